#include "kernels/attention.hpp"

#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/sequences.hpp"

namespace sticky::cpu {
namespace {

void check(const Attention& op) {
  const KvPages& kv = op.kv;
  if (kv.n_kv_heads <= 0 || op.n_heads <= 0 || op.n_heads % kv.n_kv_heads != 0)
    throw std::invalid_argument(
        fmt::format("attention: {} heads over {} kv heads", op.n_heads, kv.n_kv_heads));
  if (kv.head_dim <= 0 || kv.head_dim > kMaxHeadDim)
    throw std::invalid_argument(
        fmt::format("attention: head_dim {} is not in 1 … {}", kv.head_dim, kMaxHeadDim));
  const i64 width = op.n_heads * kv.head_dim;
  if (op.q.cols != width || op.y.cols != width || op.q.rows != op.y.rows)
    throw std::invalid_argument("attention: q and y must be [n_tokens, n_heads * head_dim]");
  check_sequences("attention", op.sequences, op.q.rows, kv, op.window);
}

}  // namespace

void attention(const Context& context, const Attention& op) {
  check(op);
  const auto q = op.q.as<const float>();
  const auto y = op.y.as<float>();
  const KvPages& kv = op.kv;
  const i64 group = op.n_heads / kv.n_kv_heads;
  // One entry per unit: a step has thousands at most, and threads take them in turn.
  std::vector<AttentionUnit> units;
  for (const SequenceRows& s : op.sequences) {
    for (i64 head = 0; head < kv.n_kv_heads && s.n_rows > 0; ++head) {
      AttentionUnit unit = {.q = q.row(s.first_row),
                            .q_stride = q.stride,
                            .y = y.row(s.first_row),
                            .y_stride = y.stride,
                            .k = static_cast<const float*>(kv.k),
                            .v = static_cast<const float*>(kv.v),
                            .pages = s.pages.data(),
                            .n_kv_heads = kv.n_kv_heads,
                            .head_dim = kv.head_dim,
                            .kv_head = head,
                            .group = group,
                            .first_position = s.first_position,
                            .scale = op.scale,
                            .window = op.window,
                            .softcap = op.softcap};
      const i64 n_pairs = s.n_rows * group;
      for (; unit.first_pair < n_pairs; unit.first_pair += kPairs) {
        unit.n_pairs = n_pairs - unit.first_pair < kPairs ? n_pairs - unit.first_pair : kPairs;
        units.push_back(unit);
      }
    }
  }
  for_parts(context.parallel, static_cast<i64>(units.size()), 1, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i)
      context.kernels.attention(units[static_cast<std::size_t>(i)]);
  });
}

}  // namespace sticky::cpu
