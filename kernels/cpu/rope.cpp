#include "kernels/rope.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/sequences.hpp"

namespace sticky::cpu {
namespace {

void check(const RopeAndStore& op) {
  const KvPages& kv = op.kv;
  if (op.qkv.cols != (op.n_heads + 2 * kv.n_kv_heads) * kv.head_dim)
    throw std::invalid_argument(
        "rope_and_store: qkv is not (n_heads + 2 n_kv_heads) * head_dim wide");
  if (op.cos.cols != op.sin.cols || op.cos.rows != op.sin.rows || 2 * op.cos.cols > kv.head_dim)
    throw std::invalid_argument("rope_and_store: cos and sin disagree or are wider than a head");
  check_sequences("rope_and_store", op.sequences, op.qkv.rows, kv, 1);
  for (const SequenceRows& s : op.sequences) {
    if (op.cos.cols > 0 && s.n_rows > 0 && s.first_position + s.n_rows > op.cos.rows)
      throw std::invalid_argument("rope_and_store: a position is behind the end of cos and sin");
  }
}

void rotate(float* head, i64 half, const float* cos, const float* sin) {
  for (i64 i = 0; i < half; ++i) {
    const float a = head[i];
    const float b = head[i + half];
    head[i] = a * cos[i] - b * sin[i];
    head[i + half] = b * cos[i] + a * sin[i];
  }
}

/// Keys of a page are stored [head_dim][16], so that attention scores 16 positions at once; values
/// are stored [16][head_dim].
void store(const KvPages& kv, i64 page, i64 slot, const float* keys, const float* values) {
  for (i64 h = 0; h < kv.n_kv_heads; ++h) {
    const i64 begin = (page * kv.n_kv_heads + h) * kPageTokens * kv.head_dim;
    float* k = static_cast<float*>(kv.k) + begin + slot;
    float* v = static_cast<float*>(kv.v) + begin + slot * kv.head_dim;
    for (i64 d = 0; d < kv.head_dim; ++d) {
      k[d * kPageTokens] = keys[h * kv.head_dim + d];
      v[d] = values[h * kv.head_dim + d];
    }
  }
}

/// Some rows of one sequence.
struct Piece {
  const SequenceRows* sequence = nullptr;
  i64 begin = 0;
  i64 end = 0;
};

std::vector<Piece> pieces(std::span<const SequenceRows> sequences) {
  std::vector<Piece> all;
  for (const SequenceRows& s : sequences) {
    for (i64 begin = 0; begin < s.n_rows; begin += kRowsAPart)
      all.push_back({&s, begin, std::min(begin + kRowsAPart, s.n_rows)});
  }
  return all;
}

void rotate_and_store(const RopeAndStore& op, const Piece& piece) {
  const auto cos = op.cos.as<const float>();
  const auto sin = op.sin.as<const float>();
  const KvPages& kv = op.kv;
  const i64 n_rotated = op.n_heads + kv.n_kv_heads;
  const SequenceRows& s = *piece.sequence;
  for (i64 r = piece.begin; r < piece.end; ++r) {
    const i64 position = s.first_position + r;
    float* row = op.qkv.as<float>().row(s.first_row + r);
    for (i64 h = 0; h < n_rotated && cos.cols > 0; ++h)
      rotate(row + h * kv.head_dim, cos.cols, cos.row(position), sin.row(position));
    store(kv, s.pages[static_cast<std::size_t>(position / kPageTokens)], position % kPageTokens,
          row + op.n_heads * kv.head_dim, row + n_rotated * kv.head_dim);
  }
}

}  // namespace

void rope_and_store(const Context& context, const RopeAndStore& op) {
  check(op);
  const std::vector<Piece> all = pieces(op.sequences);
  for_parts(context.parallel, static_cast<i64>(all.size()), 2, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i)
      rotate_and_store(op, all[static_cast<std::size_t>(i)]);
  });
}

}  // namespace sticky::cpu
