#include "gguf_cursor.hpp"

#include <algorithm>
#include <cstdint>

#include "sticky/base/error.hpp"

namespace sticky::checkpoint {

namespace {

constexpr i64 kWindowBytes = i64{1} << 20;
constexpr i64 kMaxHeaderBytes = 100'000'000;  // a vocabulary of 262,144 tokens takes about 10 MB

}  // namespace

std::string GgufCursor::string() {
  const auto n = number<std::uint64_t>();
  require(n);
  std::string text(static_cast<std::size_t>(n), '\0');
  take(std::as_writable_bytes(std::span(text)));
  return text;
}

void GgufCursor::reject(std::string_view what) const {
  fail<FormatError>("{}: {}: {} (at byte {})", file_.path(), field_, what, position());
}

void GgufCursor::require(std::uint64_t n_bytes) const {
  const i64 end = std::min(file_.size_bytes(), kMaxHeaderBytes);
  if (n_bytes <= static_cast<std::uint64_t>(end - position())) return;
  reject(fmt::format("needs {} bytes, but the {} ends at byte {}", n_bytes,
                     end == kMaxHeaderBytes ? "longest header allowed" : "file", end));
}

void GgufCursor::take(std::span<std::byte> out) {
  require(out.size());
  while (!out.empty()) {
    if (at_ == static_cast<i64>(window_.size())) {
      window_begin_ += at_;
      at_ = 0;
      window_ =
          file_.text_at(window_begin_, std::min(kWindowBytes, file_.size_bytes() - window_begin_));
    }
    const auto now = std::min(out.size(), window_.size() - static_cast<std::size_t>(at_));
    std::memcpy(out.data(), window_.data() + at_, now);
    at_ += static_cast<i64>(now);
    out = out.subspan(now);
  }
}

}  // namespace sticky::checkpoint
