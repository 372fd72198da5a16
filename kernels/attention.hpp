#pragma once

#include <span>

#include "kernels/kv_pages.hpp"
#include "sticky/tensor/matrix.hpp"

namespace sticky {

/// Causal attention over paged keys and values, for prefill and decode rows alike.
///   s[j] = softcap(scale * q . k[j]), p = softmax over visible j, y = sum_j p[j] v[j]
/// A row at position p sees positions max(0, p - window + 1) … p; window 0 means all before it.
/// softcap(x) = c * tanh(x / c) where softcap c > 0. Query head h reads kv head h / (n_heads /
/// n_kv_heads).
///
/// Source: Vaswani et al. 2017, eq. 1; GQA: Ainslie et al. 2023. The keys are cut at fixed
/// multiples of 256 positions; the parts are merged in order, so a row's bits depend neither on its
/// neighbours in the batch nor on how its prompt was cut into chunks. Shapes: q, y [n_tokens,
/// n_heads * head_dim] f32 (q may be the front columns of qkv: mind the stride). k and v of the
/// batch's own rows are in the pages already (RopeAndStore). Rows not in any sequence are left
/// alone.
struct Attention {
  ConstMatrix q;
  i64 n_heads = 0;
  std::span<const SequenceRows> sequences;
  KvPages kv;
  float scale = 1.0F;
  i64 window = 0;
  float softcap = 0.0F;
  Matrix y;
};

}  // namespace sticky
