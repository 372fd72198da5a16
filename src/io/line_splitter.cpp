#include "line_splitter.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sticky::io {

namespace {

constexpr std::size_t kPiece = 1U << 18U;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::optional<std::size_t> find_newline(const char* from, std::size_t n) {
  if (n == 0) return std::nullopt;
  const void* at = std::memchr(from, '\n', n);
  if (at == nullptr) return std::nullopt;
  return static_cast<std::size_t>(static_cast<const char*>(at) - from);
}

}  // namespace

LineSplitter::LineSplitter(std::unique_ptr<ByteSource> source, i64 max_line_bytes)
    : source_(std::move(source)),
      max_line_bytes_(static_cast<std::size_t>(max_line_bytes)) {}

std::optional<LineSplitter::Line> LineSplitter::next() {
  std::size_t n_searched = 0;
  while (true) {
    if (const auto n =
            find_newline(buffer_.data() + begin_ + n_searched, end_ - begin_ - n_searched))
      return take(n_searched + *n, true);
    n_searched = end_ - begin_;
    if (n_searched > max_line_bytes_) return skip_long_line();
    if (refill()) continue;
    if (begin_ == end_) return std::nullopt;
    return take(end_ - begin_, false);
  }
}

bool LineSplitter::refill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
  end_ -= std::exchange(begin_, 0);
  // Doubling keeps a long line's cost linear.
  if (buffer_.size() - end_ < kPiece) buffer_.resize(std::max(end_ + kPiece, 2 * end_));
  const i64 n = source_->read(std::span(buffer_).subspan(end_, buffer_.size() - end_));
  end_ += static_cast<std::size_t>(n);
  return n > 0;
}

LineSplitter::Line LineSplitter::take(std::size_t n_bytes, bool has_newline) {
  Line line;
  line.text = {buffer_.data() + begin_, n_bytes};
  line.number = ++n_lines_;
  line.byte_offset = offset_;
  line.n_bytes = static_cast<i64>(n_bytes);
  line.is_too_long = n_bytes > max_line_bytes_;
  if (line.is_too_long) line.text = line.text.substr(0, max_line_bytes_);
  if (line.number == 1 && line.text.starts_with(kByteOrderMark)) {
    line.text.remove_prefix(kByteOrderMark.size());
    line.byte_offset += static_cast<i64>(kByteOrderMark.size());
  }
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  const std::size_t n_taken = n_bytes + (has_newline ? 1 : 0);
  begin_ += n_taken;
  offset_ += static_cast<i64>(n_taken);
  return line;
}

LineSplitter::Line LineSplitter::skip_long_line() {
  Line line;
  line.number = ++n_lines_;
  line.byte_offset = offset_;
  line.is_too_long = true;
  const auto start = buffer_.begin() + static_cast<std::ptrdiff_t>(begin_);
  long_line_start_.assign(start, start + static_cast<std::ptrdiff_t>(max_line_bytes_));
  line.text = {long_line_start_.data(), long_line_start_.size()};
  bool has_newline = false;
  while (!has_newline) {
    const auto newline = find_newline(buffer_.data() + begin_, end_ - begin_);
    has_newline = newline.has_value();
    const std::size_t n = newline.value_or(end_ - begin_);
    line.n_bytes += static_cast<i64>(n);
    begin_ += n + (has_newline ? 1 : 0);
    if (!has_newline && !refill()) break;
  }
  offset_ += line.n_bytes + (has_newline ? 1 : 0);
  return line;
}

}  // namespace sticky::io
