#pragma once

#include <span>

#include "kernels/kv_pages.hpp"
#include "sticky/tensor/matrix.hpp"

namespace sticky {

/// After the fused QKV projection: rotates q and k of every token by its position and writes k and
/// v to their page slots. q is rotated in place; k and v columns of qkv may be overwritten.
///
/// With pairs (i, i + rotary_dim / 2) of each head ("neox" order, as Hugging Face checkpoints store
/// them):
///   out[i]       = x[i] * cos[p, i] - x[i + r/2] * sin[p, i]
///   out[i + r/2] = x[i + r/2] * cos[p, i] + x[i] * sin[p, i]
/// Columns rotary_dim … head_dim - 1 stay; with empty cos and sin, all do.
/// Source: Su et al. 2021; layout of rotate_half in transformers.
/// Shapes: qkv [n_tokens, (n_heads + 2 n_kv_heads) * head_dim], q heads first, then k, then v;
/// cos, sin [n_positions, rotary_dim / 2] f32. Rows not in any sequence are left alone.
struct RopeAndStore {
  Matrix qkv;
  i64 n_heads = 0;
  ConstMatrix cos;
  ConstMatrix sin;
  std::span<const SequenceRows> sequences;
  KvPages kv;
};

}  // namespace sticky
