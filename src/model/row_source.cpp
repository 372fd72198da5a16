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
      cols_(tensors_.at(0).cols()) {
  for (const FoundTensor& t : tensors_) {
    STICKY_CHECK(t.cols() == cols_);
    rows_ += t.rows();
  }
}

i64 RowSource::stored_bytes() const {
  i64 n = 0;
  for (const FoundTensor& t : tensors_)
    n += t.n_bytes();
  return n;
}

i64 RowSource::row_of_tensor(const FoundTensor& t, i64 r) const {
  if (t.place.interleaved_heads > 0) {
    const i64 head_dim = t.rows() / t.place.interleaved_heads;
    const i64 half = head_dim / 2;
    const i64 in_head = r % head_dim;
    r += 2 * (in_head % half) + in_head / half - in_head;
  }
  const RowPart& part = t.place.part;
  if (part.n_rows > 0) r = part.begin + r / part.block * part.step + r % part.block;
  STICKY_CHECK(0 <= r && r < t.all_rows());  // lengths of what is read follow from it
  return r;
}

void RowSource::read_piece(const FoundTensor& t, i64 row) {
  // Whole heads, so that putting rotary pairs in place does not read back and forth.
  const i64 unit = t.place.interleaved_heads == 0 ? 1 : t.rows() / t.place.interleaved_heads;
  const i64 at_once = std::max(unit, kPieceElements / cols_ / unit * unit);
  piece_name_ = t.stored.name;
  piece_first_ = t.place.transposed ? 0 : row / unit * unit;
  piece_rows_ = t.place.transposed ? t.all_rows() : std::min(at_once, t.all_rows() - piece_first_);
  piece_.resize(static_cast<std::size_t>(piece_rows_ * cols_));
  if (t.place.transposed) {
    read_transposed(t);
  } else {
    checkpoint_.read_rows(t.stored, piece_first_, piece_rows_, piece_);
  }
  if (t.place.minus == 0.0F) return;
  for (float& element : piece_)
    element -= t.place.minus;
}

void RowSource::read_transposed(const FoundTensor& t) {
  std::vector<float> stored(static_cast<std::size_t>(piece_rows_));
  for (i64 c = 0; c < cols_; ++c) {
    checkpoint_.read_rows(t.stored, c, 1, stored);
    for (i64 r = 0; r < piece_rows_; ++r)
      piece_[static_cast<std::size_t>(r * cols_ + c)] = stored[static_cast<std::size_t>(r)];
  }
}

const float* RowSource::row(const FoundTensor& t, i64 r) {
  const i64 at = row_of_tensor(t, r);
  if (piece_name_ != t.stored.name || at < piece_first_ || at >= piece_first_ + piece_rows_)
    read_piece(t, at);
  return piece_.data() + (at - piece_first_) * cols_;
}

void RowSource::fill(i64 first, i64 n, float* out) {
  STICKY_CHECK(0 <= first && 0 <= n && n <= rows_ - first);
  i64 begin = 0;  // of the current tensor
  for (const FoundTensor& t : tensors_) {
    const i64 end = begin + t.rows();
    for (i64 r = std::max(first, begin); r < std::min(first + n, end); ++r)
      std::copy_n(row(t, r - begin), cols_, out + (r - first) * cols_);
    begin = end;
  }
}

backend::WeightRows RowSource::weight_rows() {
  return {.n = rows_, .k = cols_, .fill = [this](i64 first, i64 n, float* out) {
            fill(first, n, out);
          }};
}

}  // namespace sticky::model
