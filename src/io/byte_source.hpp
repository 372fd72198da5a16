#pragma once

#include <memory>
#include <span>
#include <string>

#include "sticky/base/types.hpp"

#include "file.hpp"

namespace sticky::io {

/// The bytes of a file, unpacked.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// Bytes put into `out` (which is not empty), 0 at the end. Throws SystemError, and FormatError
  /// with file and position for packed bytes that are broken or end too early.
  [[nodiscard]] virtual i64 read(std::span<char> out) = 0;
  /// Bytes taken from the file so far, as it lies on disk.
  [[nodiscard]] virtual i64 n_packed_bytes() const = 0;
};

/// A file read once from front to back, whose first bytes can be looked at.
class FileStart {
 public:
  explicit FileStart(File file);
  /// The first bytes, at most four; fewer only if the file is shorter.
  [[nodiscard]] std::string_view first_bytes() const { return first_; }
  [[nodiscard]] i64 read(std::span<char> out);
  [[nodiscard]] i64 n_read() const { return n_read_; }
  [[nodiscard]] const std::string& path() const { return file_.path(); }

 private:
  File file_;
  std::string first_;
  std::size_t n_given_ = 0;  // of first_
  i64 n_read_ = 0;
};

[[nodiscard]] std::unique_ptr<ByteSource> gzip_source(FileStart file);
[[nodiscard]] std::unique_ptr<ByteSource> zstd_source(FileStart file);

/// Unpacks what is packed: by the name's end (.gz, .zst), else by the first bytes.
[[nodiscard]] std::unique_ptr<ByteSource> open_bytes(File file);

}  // namespace sticky::io
