#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "sticky/base/types.hpp"

namespace sticky::checkpoint {

/// A regular file that is read by position (pread): no shared cursor, so threads may read at once.
class File {
 public:
  /// Throws SystemError naming path and reason.
  explicit File(std::string path);
  File(File&& other) noexcept;
  File& operator=(File&& other) = delete;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] i64 size_bytes() const { return size_bytes_; }  ///< when it was opened
  /// Fills `out` from byte `offset` on. FormatError when the file ends before that.
  void read_at(i64 offset, std::span<std::byte> out) const;
  /// The same as text.
  [[nodiscard]] std::string text_at(i64 offset, i64 n_bytes) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  i64 size_bytes_ = 0;
};

}  // namespace sticky::checkpoint
