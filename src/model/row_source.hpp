#pragma once

#include <string>
#include <vector>

#include "sticky/backend/backend.hpp"

#include "tensor_table.hpp"

namespace sticky::model {

/// Rows of tensors of equal width, one below the other, as one weight [sum of rows, cols] (q, k and
/// v fused, gate and up fused). Rows that the checkpoint keeps as rotary pairs are put in their
/// place, rows that share a tensor are picked from it, what was added to elements is taken away.
/// Asked for few rows at a time in ascending order, it still reads the file in large pieces: it
/// keeps up to 16 MiB of rows widened, of a transposed tensor all. One thread at a time.
class RowSource {
 public:
  /// `checkpoint` must outlive this. A vector counts as rows of one element.
  RowSource(const checkpoint::Checkpoint& checkpoint, std::vector<FoundTensor> tensors);

  [[nodiscard]] i64 rows() const { return rows_; }
  [[nodiscard]] i64 cols() const { return cols_; }
  [[nodiscard]] i64 stored_bytes() const;
  /// Rows first … first + n - 1 as f32 [n, cols()].
  void fill(i64 first, i64 n, float* out);
  /// A view of this for Backend::load_weight.
  [[nodiscard]] backend::WeightRows weight_rows();

 private:
  // The row of the whole tensor that is row r of t's place.
  [[nodiscard]] i64 row_of_tensor(const FoundTensor& t, i64 r) const;
  [[nodiscard]] const float* row(const FoundTensor& t, i64 r);
  // Reads rows from about `row` on.
  void read_piece(const FoundTensor& t, i64 row);
  void read_transposed(const FoundTensor& t);

  const checkpoint::Checkpoint& checkpoint_;
  std::vector<FoundTensor> tensors_;
  i64 rows_ = 0;
  i64 cols_ = 0;
  std::vector<float> piece_;  // rows piece_first_ … of the tensor piece_name_
  std::string piece_name_;
  i64 piece_first_ = 0;
  i64 piece_rows_ = 0;
};

}  // namespace sticky::model
