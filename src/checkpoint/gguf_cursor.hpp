#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sticky/base/types.hpp"

#include "file.hpp"

namespace sticky::checkpoint {

/// Reads the header of a GGUF file from front to end, in large reads. Every length is checked
/// against what is left of the file and of the 100 MB that a header may have, before memory is
/// taken. Errors are FormatErrors that name the file, the field set last and the position.
class GgufCursor {
 public:
  explicit GgufCursor(const File& file) : file_(file) {}

  template <class T>
  requires std::is_arithmetic_v<T>
  [[nodiscard]] T number() {
    T value;
    take(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  [[nodiscard]] std::string string();  ///< 64-bit length, then the bytes

  /// What the next reads are about, for errors.
  void set_field(std::string field) { field_ = std::move(field); }
  /// Throws the error "file: field: what (at byte n)".
  [[noreturn]] void reject(std::string_view what) const;

  [[nodiscard]] i64 position() const { return window_begin_ + at_; }
  [[nodiscard]] const File& file() const { return file_; }

 private:
  void take(std::span<std::byte> out);
  void require(std::uint64_t n_bytes) const;

  const File& file_;
  std::string field_;
  std::string window_;  // bytes window_begin_ … of the file
  i64 window_begin_ = 0;
  i64 at_ = 0;  // position inside the window
};

}  // namespace sticky::checkpoint
