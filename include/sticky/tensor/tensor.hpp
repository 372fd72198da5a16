#pragma once

#include <type_traits>

#include "sticky/base/check.hpp"
#include "sticky/base/types.hpp"

namespace sticky {

/// Non-owning matrix [rows, cols], row-major, columns contiguous. Passed by value.
/// Rows<const T> may only be read. Bounds are checked where STICKY_ASSERT() is.
template <class T>
struct Rows {
  T* data = nullptr;
  i64 rows = 0;
  i64 cols = 0;
  i64 stride = 0;  ///< elements from one row to the next, >= cols

  T& operator()(i64 r, i64 c) const {
    STICKY_ASSERT(0 <= r && r < rows && 0 <= c && c < cols);
    return data[r * stride + c];
  }
  [[nodiscard]] T* row(i64 r) const {
    STICKY_ASSERT(0 <= r && r < rows);
    return data + r * stride;
  }
  /// Rows first … first + n - 1.
  [[nodiscard]] Rows slice(i64 first, i64 n) const {
    return {data + first * stride, n, cols, stride};
  }
  /// Columns first … first + n - 1.
  [[nodiscard]] Rows columns(i64 first, i64 n) const { return {data + first, rows, n, stride}; }
  operator Rows<const T>() const  // NOLINT(google-explicit-constructor): as T* to const T*
      requires(!std::is_const_v<T>) {
    return {data, rows, cols, stride};
  }
};

}  // namespace sticky
