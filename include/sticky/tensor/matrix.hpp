#pragma once

#include <stdexcept>
#include <type_traits>

#include "sticky/tensor/dtype.hpp"
#include "sticky/tensor/tensor.hpp"

namespace sticky {

/// The DType of an element type.
template <class T>
inline constexpr DType kDTypeOf = DType::f32;
template <>
inline constexpr DType kDTypeOf<BFloat16> = DType::bf16;
template <>
inline constexpr DType kDTypeOf<Float16> = DType::f16;

/// Matrix whose element type is known at run time; Void is const void for one that is only read.
template <class Void>
struct BasicMatrix {
  Void* data = nullptr;
  DType dtype = DType::f32;
  i64 rows = 0;
  i64 cols = 0;
  i64 stride = 0;  ///< elements from one row to the next, >= cols

  BasicMatrix() = default;
  BasicMatrix(Void* data_, DType dtype_, i64 rows_, i64 cols_, i64 stride_)
      : data(data_),
        dtype(dtype_),
        rows(rows_),
        cols(cols_),
        stride(stride_) {}
  template <class T>
  BasicMatrix(Rows<T> rows_)  // NOLINT(google-explicit-constructor): a typed matrix is a matrix
      : data(rows_.data),
        dtype(kDTypeOf<std::remove_const_t<T>>),
        rows(rows_.rows),
        cols(rows_.cols),
        stride(rows_.stride) {}
  // A template, for as a plain constructor it would take the copy constructor's place in Matrix.
  template <class Other>
  requires std::is_const_v<Void> && std::is_same_v<Other, std::remove_const_t<Void>> BasicMatrix(
      const BasicMatrix<Other>& other)  // NOLINT(google-explicit-constructor)
      : data(other.data),
        dtype(other.dtype),
        rows(other.rows),
        cols(other.cols),
        stride(other.stride) {}

  /// Throws std::invalid_argument when the elements are not T.
  template <class T>
  [[nodiscard]] Rows<T> as() const {
    if (kDTypeOf<std::remove_const_t<T>> != dtype) throw std::invalid_argument("wrong dtype");
    return {static_cast<T*>(data), rows, cols, stride};
  }
};
using Matrix = BasicMatrix<void>;
using ConstMatrix = BasicMatrix<const void>;

}  // namespace sticky
