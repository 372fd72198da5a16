#include <algorithm>
#include <vector>
#include <zlib.h>

#include "sticky/base/counted.hpp"
#include "sticky/base/error.hpp"

#include "byte_source.hpp"

namespace sticky::io {

namespace {

constexpr std::size_t kPiece = 1U << 17U;

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(FileStart file) : file_(std::move(file)), packed_(kPiece) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK)
      fail<SystemError>("{}: zlib cannot start: out of memory?", file_.path());
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  i64 read(std::span<char> out) override {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min(out.size(), kPiece));
    const uInt room = stream_.avail_out;
    while (stream_.avail_out == room) {
      if (stream_.avail_in == 0 && !refill()) {
        if (is_in_member_)
          fail<FormatError>("{}: ends after {} in the midst of packed text; was it cut off?",
                            file_.path(), counted(file_.n_read(), "byte"));
        return 0;
      }
      if (!is_in_member_ && !begin_member()) return 0;
      inflate_some();
    }
    return room - stream_.avail_out;
  }

  [[nodiscard]] i64 n_packed_bytes() const override { return file_.n_read(); }

 private:
  bool refill() {
    const i64 n = file_.read(packed_);
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
    stream_.avail_in = static_cast<uInt>(n);
    return n > 0;
  }

  // Behind a member stands another one, or zeros to fill a block (as gzip(1) allows).
  bool begin_member() {
    while (has_ended_member_ && *stream_.next_in == 0) {
      ++stream_.next_in;
      if (--stream_.avail_in == 0 && !refill()) return false;
    }
    is_in_member_ = true;
    return true;
  }

  void inflate_some() {
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      is_in_member_ = false;
      has_ended_member_ = true;
      inflateReset(&stream_);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      fail<FormatError>("{}: broken gzip before byte {}: {}", file_.path(),
                        file_.n_read() - stream_.avail_in,
                        stream_.msg != nullptr ? stream_.msg : "unknown reason");
    }
  }

  FileStart file_;
  std::vector<char> packed_;
  z_stream stream_{};
  bool is_in_member_ = false;
  bool has_ended_member_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> gzip_source(FileStart file) {
  return std::make_unique<GzipSource>(std::move(file));
}

}  // namespace sticky::io
