#include "row_source.hpp"

#include <algorithm>
#include <utility>

#include "sticky/base/check.hpp"

namespace sticky::model {

namespace {

constexpr i64 kPieceElements = i64{4} << 20;  // 16 MiB of f32

}  // namespace

RowSource::RowSource(const checkpoint::Checkpoint& checkpoint, std::vector<FoundTensor> tensors)
    : checkpoint_(checkpoint),
      tensors_(std::move(tensors)),
      cols_(tensors_.at(0).stored.cols()) {
  for (const FoundTensor& t : tensors_) {
    STICKY_CHECK(t.stored.cols() == cols_);
    rows_ += t.stored.rows();
  }
}

i64 RowSource::stored_bytes() const {
  i64 n = 0;
  for (const FoundTensor& t : tensors_)
    n += t.stored.size_bytes;
  return n;
}

i64 RowSource::stored_row(const FoundTensor& t, i64 r) const {
  if (t.place.interleaved_heads == 0) return r;
  const i64 head_dim = t.stored.rows() / t.place.interleaved_heads;
  const i64 half = head_dim / 2;
  const i64 in_head = r % head_dim;
  return r - in_head + 2 * (in_head % half) + in_head / half;
}

const float* RowSource::row(std::size_t tensor, i64 stored_row) {
  const FoundTensor& t = tensors_[tensor];
  if (piece_tensor_ != tensor || stored_row < piece_first_ ||
      stored_row >= piece_first_ + piece_rows_) {
    // Whole heads, so that putting rotary pairs in place does not read back and forth.
    const i64 unit =
        t.place.interleaved_heads == 0 ? 1 : t.stored.rows() / t.place.interleaved_heads;
    const i64 at_once = std::max(unit, kPieceElements / cols_ / unit * unit);
    piece_tensor_ = tensor;
    piece_first_ = stored_row / unit * unit;
    piece_rows_ = std::min(at_once, t.stored.rows() - piece_first_);
    piece_.resize(static_cast<std::size_t>(piece_rows_ * cols_));
    checkpoint_.read_rows(t.stored, piece_first_, piece_rows_, piece_);
  }
  return piece_.data() + (stored_row - piece_first_) * cols_;
}

void RowSource::fill(i64 first, i64 n, float* out) {
  STICKY_CHECK(0 <= first && 0 <= n && n <= rows_ - first);
  i64 begin = 0;  // of the current tensor
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const i64 end = begin + tensors_[i].stored.rows();
    for (i64 r = std::max(first, begin); r < std::min(first + n, end); ++r)
      std::copy_n(row(i, stored_row(tensors_[i], r - begin)), cols_, out + (r - first) * cols_);
    begin = end;
  }
}

backend::WeightRows RowSource::weight_rows() {
  return {.n = rows_, .k = cols_, .fill = [this](i64 first, i64 n, float* out) {
            fill(first, n, out);
          }};
}

}  // namespace sticky::model
