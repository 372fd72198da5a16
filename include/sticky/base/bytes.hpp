#pragma once

#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "sticky/base/error.hpp"
#include "sticky/base/types.hpp"

namespace sticky {

static_assert(std::endian::native == std::endian::little, "files and messages are little-endian");

/// Appends numbers and strings to a byte string, little-endian, no padding.
class ByteWriter {
 public:
  template <class T>
  requires std::is_arithmetic_v<T>
  void number(T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
  }
  void string(std::string_view text) {  ///< 64-bit length, then the bytes
    number(static_cast<i64>(text.size()));
    bytes_.append(text);
  }
  void reserve(i64 n_bytes) { bytes_.reserve(static_cast<std::size_t>(n_bytes)); }
  void raw(std::string_view bytes) { bytes_.append(bytes); }  ///< the bytes alone
  [[nodiscard]] i64 size() const { return static_cast<i64>(bytes_.size()); }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what ByteWriter wrote, or a hostile imitation of it: every length is checked against what
/// is left. FormatError names `what` and the position.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  template <class T>
  requires std::is_arithmetic_v<T>
  [[nodiscard]] T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::string_view string() {
    const i64 n = number<i64>();
    if (n < 0) fail<FormatError>("{}: negative length {} at byte {}", what_, n, at_);
    return take(n);
  }
  /// A count of elements of at least `min_bytes` each: no more than can still follow.
  [[nodiscard]] i64 count(i64 min_bytes) {
    const i64 n = number<i64>();
    if (n < 0 || n > left() / min_bytes)
      fail<FormatError>("{}: count {} at byte {}, but only {} bytes follow", what_, n, at_, left());
    return n;
  }
  [[nodiscard]] std::string_view take(i64 n) {
    if (n > left())
      fail<FormatError>("{}: needs {} bytes at byte {}, but only {} are left", what_, n, at_,
                        left());
    const auto out = bytes_.substr(static_cast<std::size_t>(at_), static_cast<std::size_t>(n));
    at_ += n;
    return out;
  }
  [[nodiscard]] i64 left() const { return static_cast<i64>(bytes_.size()) - at_; }
  [[nodiscard]] i64 position() const { return at_; }
  void expect_end() const {
    if (left() != 0) fail<FormatError>("{}: {} bytes too many at the end", what_, left());
  }

 private:
  std::string_view bytes_;
  std::string_view what_;
  i64 at_ = 0;
};

}  // namespace sticky
