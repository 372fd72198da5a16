#include <vector>
#include <zstd.h>

#include "sticky/base/counted.hpp"
#include "sticky/base/error.hpp"

#include "byte_source.hpp"

namespace sticky::io {

namespace {

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(FileStart file)
      : file_(std::move(file)),
        packed_(ZSTD_DStreamInSize()),
        stream_(ZSTD_createDStream()) {
    if (!stream_) fail<SystemError>("{}: zstd cannot start: out of memory?", file_.path());
    // A frame may ask for a window of its own; this bounds what a hostile one can take.
    constexpr int kMaxWindowLog = 27;
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  }

  i64 read(std::span<char> out) override {
    ZSTD_outBuffer unpacked{out.data(), out.size(), 0};
    while (unpacked.pos == 0) {
      const bool has_input = in_.pos < in_.size || refill();
      // Unpacked text may still wait inside the stream when the file is at its end.
      if (!has_input && !is_in_frame_) return 0;
      const std::size_t before = in_.pos;
      const std::size_t result = ZSTD_decompressStream(stream_.get(), &unpacked, &in_);
      if (ZSTD_isError(result) != 0)
        fail<FormatError>("{}: broken zstd before byte {}: {}", file_.path(),
                          file_.n_read() - static_cast<i64>(in_.size - in_.pos),
                          ZSTD_getErrorName(result));
      is_in_frame_ = result != 0;
      if (!has_input && unpacked.pos == 0 && in_.pos == before)
        fail<FormatError>("{}: ends after {} in the midst of packed text; was it cut off?",
                          file_.path(), counted(file_.n_read(), "byte"));
    }
    return static_cast<i64>(unpacked.pos);
  }

  [[nodiscard]] i64 n_packed_bytes() const override { return file_.n_read(); }

 private:
  bool refill() {
    const i64 n = file_.read(packed_);
    in_ = {packed_.data(), static_cast<std::size_t>(n), 0};
    return n > 0;
  }

  FileStart file_;
  std::vector<char> packed_;
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  ZSTD_inBuffer in_{};
  bool is_in_frame_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> zstd_source(FileStart file) {
  return std::make_unique<ZstdSource>(std::move(file));
}

}  // namespace sticky::io
