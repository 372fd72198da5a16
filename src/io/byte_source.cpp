#include "byte_source.hpp"

#include <algorithm>
#include <utility>

#include "sticky/base/error.hpp"

namespace sticky::io {

namespace {

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(FileStart file) : file_(std::move(file)) {}
  i64 read(std::span<char> out) override { return file_.read(out); }
  [[nodiscard]] i64 n_packed_bytes() const override { return file_.n_read(); }

 private:
  FileStart file_;
};

// RFC 1952 §2.3.1 and RFC 8878 §3.1.1: no JSON text begins so.
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

}  // namespace

FileStart::FileStart(File file) : file_(std::move(file)) {
  const std::size_t n_wanted = kZstdMagic.size();
  first_.resize(n_wanted);
  std::size_t n = 0;
  while (n < n_wanted) {
    const i64 got = file_.read({first_.data() + n, n_wanted - n});
    if (got == 0) break;
    n += static_cast<std::size_t>(got);
  }
  first_.resize(n);
}

i64 FileStart::read(std::span<char> out) {
  i64 n = 0;
  if (n_given_ < first_.size()) {
    const std::size_t count = std::min(out.size(), first_.size() - n_given_);
    std::copy_n(first_.begin() + static_cast<std::ptrdiff_t>(n_given_), count, out.begin());
    n_given_ += count;
    n = static_cast<i64>(count);
  } else {
    n = file_.read(out);
  }
  n_read_ += n;
  return n;
}

std::unique_ptr<ByteSource> open_bytes(File file) {
  FileStart start(std::move(file));
  const bool is_named_gzip = start.path().ends_with(".gz");
  const bool is_named_zstd = start.path().ends_with(".zst");
  if ((is_named_gzip || is_named_zstd) && start.first_bytes().empty())
    fail<FormatError>("{}: is empty; even nothing, packed, has a header", start.path());
  if (is_named_gzip || (!is_named_zstd && start.first_bytes().starts_with(kGzipMagic)))
    return gzip_source(std::move(start));
  if (is_named_zstd || start.first_bytes().starts_with(kZstdMagic))
    return zstd_source(std::move(start));
  return std::make_unique<PlainSource>(std::move(start));
}

}  // namespace sticky::io
