#pragma once

#include "kernels/cpu/kernel_table.hpp"
#include "kernels/cpu/math_body.hpp"
#include "kernels/kv_pages.hpp"

// Attention of up to kPairs (row, query head) pairs over one kv head. A page of 16 keys is one
// register of scores: each lane sums q . k over ascending d, so no sum crosses lanes but the
// softmax's own. Keys are cut at multiples of kKeysPerSplit; a split's sums are merged into y,
// which holds the running numerator. Pairs that share loads never share sums, so a pair's bits do
// not depend on the others; a position that only another pair sees adds zeros. V is one of
// vec_*.hpp.

namespace sticky::cpu {

template <class V>
struct AttentionState {
  alignas(
      64) float q[kMaxHeadDim * kPairs];  // [head_dim][kPairs]: neighbours in a tile are neighbours
  alignas(64) float scores[kPairs][kKeysPerSplit];  // then weights e^(s - max)
  float* y[kPairs] = {};
  i64 first[kPairs] = {};  // first position that the pair sees
  i64 last[kPairs] = {};
  float max[kPairs] = {};  // over all splits so far
  float sum[kPairs] = {};
  float split_max[kPairs] = {};
  float split_sum[kPairs] = {};
  bool begun[kPairs] = {};
};

/// Positions of one split that any pair sees, widened to whole pages at the front.
struct KeyRange {
  i64 begin = 0;
  i64 end = 0;
};

template <class V>
void start_pairs(const AttentionUnit& op, AttentionState<V>& state) {
  for (i64 i = 0; i < op.n_pairs; ++i) {
    const i64 pair = op.first_pair + i;
    const i64 row = pair / op.group;
    const i64 column = (op.kv_head * op.group + pair % op.group) * op.head_dim;
    const float* q = op.q + row * op.q_stride + column;
    for (i64 d = 0; d < op.head_dim; ++d)
      state.q[d * kPairs + i] = q[d];
    state.y[i] = op.y + row * op.y_stride + column;
    for (i64 d = 0; d < op.head_dim; ++d)
      state.y[i][d] = 0.0F;
    state.last[i] = op.first_position + row;
    const i64 window_start = state.last[i] - op.window + 1;
    state.first[i] = op.window > 0 && window_start > 0 ? window_start : 0;
    state.begun[i] = false;
  }
}

/// Scores of kTile pairs for kCount pages from position on. Meanwhile it asks for the values of
/// these pages and for the keys of the next: pages lie anywhere, so the processor cannot foresee
/// them.
template <class V, int kTile, int kCount>
void score_tile(
    const AttentionUnit& op, AttentionState<V>& state, i64 pair, i64 position, KeyRange keys) {
  const i64 head_size = kPageTokens * op.head_dim;
  const float* k[kCount];
  const float* k_ahead[kCount];
  const float* v_ahead[kCount];
  for (int p = 0; p < kCount; ++p) {
    const i64 at = position / kPageTokens + p;
    const i64 next = (at + kCount) * kPageTokens < keys.end ? at + kCount : at;
    k[p] = op.k + (op.pages[at] * op.n_kv_heads + op.kv_head) * head_size;
    k_ahead[p] = op.k + (op.pages[next] * op.n_kv_heads + op.kv_head) * head_size;
    v_ahead[p] = op.v + (op.pages[at] * op.n_kv_heads + op.kv_head) * head_size;
  }
  typename V::F sums[kTile][kCount];
  for (int m = 0; m < kTile; ++m) {
    for (int p = 0; p < kCount; ++p)
      sums[m][p] = V::set1(0.0F);
  }
  const float* q = state.q + pair;
  for (i64 d = 0; d < op.head_dim; ++d) {
    typename V::F columns[kCount];
#pragma GCC unroll 4
    for (int p = 0; p < kCount; ++p) {
      columns[p] = V::load(k[p] + d * kPageTokens);
      V::pin(columns[p]);
      V::prefetch(k_ahead[p] + d * kPageTokens);
      V::prefetch(v_ahead[p] + d * kPageTokens);
    }
#pragma GCC unroll 12
    for (int m = 0; m < kTile; ++m) {
      const typename V::F a = V::set1(q[d * kPairs + m]);
#pragma GCC unroll 4
      for (int p = 0; p < kCount; ++p)
        sums[m][p] = V::fma(a, columns[p], sums[m][p]);
    }
  }
  for (int m = 0; m < kTile; ++m) {
    for (int p = 0; p < kCount; ++p)
      V::store(state.scores[pair + m] + position % kKeysPerSplit + kPageTokens * p, sums[m][p]);
  }
}

/// Most of 4, 2 or 1 that fit into registers beside n others.
template <class V>
constexpr int count_beside(int n) {
  return 4 * n <= V::kAccumulators ? 4 : 2 * n <= V::kAccumulators ? 2 : 1;
}

template <class V, int kTile = V::kTileRows>
void score_pairs(
    const AttentionUnit& op, AttentionState<V>& state, i64 pair, i64 n, KeyRange keys) {
  if (n == kTile) {
    constexpr int kCount = count_beside<V>(kTile);
    i64 position = keys.begin;
    for (; position + (kCount - 1) * kPageTokens < keys.end; position += kCount * kPageTokens)
      score_tile<V, kTile, kCount>(op, state, pair, position, keys);
    for (; position < keys.end; position += kPageTokens)
      score_tile<V, kTile, 1>(op, state, pair, position, keys);
  } else if constexpr (kTile > 1) {
    score_pairs<V, kTile - 1>(op, state, pair, n, keys);
  }
}

/// Scores to weights: scale, softcap, mask, e^(s - max of the split).
template <class V>
void weigh_pair(const AttentionUnit& op, AttentionState<V>& state, i64 pair, KeyRange keys) {
  using F = typename V::F;
  const F lowest = V::set1(-__builtin_inff());
  const F first = V::set1(static_cast<float>(state.first[pair] - keys.begin));
  const F last = V::set1(static_cast<float>(state.last[pair] - keys.begin));
  const F scale = V::set1(op.scale);
  const F cap = V::set1(op.softcap);
  const F page = V::set1(static_cast<float>(kPageTokens));
  alignas(64) static constexpr float kLanes[] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                 8, 9, 10, 11, 12, 13, 14, 15};
  float* scores = state.scores[pair] + keys.begin % kKeysPerSplit;
  const i64 n = keys.end - keys.begin;
  F at = V::load(kLanes);
  F max = lowest;
  for (i64 j = 0; j < n; j += kPageTokens) {
    F s = V::mul(V::load(scores + j), scale);
    if (op.softcap > 0.0F) s = V::mul(cap, tanh<V>(V::div(s, cap)));
    s = V::select_less(at, first, lowest, V::select_less(last, at, lowest, s));
    V::store(scores + j, s);
    max = V::max(max, s);
    at = V::add(at, page);
  }
  state.split_max[pair] = V::max_lane(max);
  const bool sees_none = state.last[pair] < keys.begin || state.first[pair] >= keys.end;
  const F reference = V::set1(sees_none ? 0.0F : state.split_max[pair]);
  F sum = V::set1(0.0F);
  for (i64 j = 0; j < n; j += kPageTokens) {
    const F weight = exp<V>(V::sub(V::load(scores + j), reference));
    V::store(scores + j, weight);
    sum = V::add(sum, weight);
  }
  state.split_sum[pair] = sees_none ? 0.0F : V::sum(sum);
}

/// Factors of the old numerator and of the split's.
template <class V>
struct Merge {
  typename V::F old_part;
  typename V::F new_part;
};

template <class V>
Merge<V> merge_pair(AttentionState<V>& state, i64 pair) {
  using F = typename V::F;
  const F zero = V::set1(0.0F);
  const F one = V::set1(1.0F);
  if (state.split_sum[pair] == 0.0F) return {one, zero};
  if (!state.begun[pair]) {
    state.begun[pair] = true;
    state.max[pair] = state.split_max[pair];
    state.sum[pair] = state.split_sum[pair];
    return {zero, one};
  }
  const F old_max = V::set1(state.max[pair]);
  const F split_max = V::set1(state.split_max[pair]);
  const F max = V::max(old_max, split_max);
  const Merge<V> merge = {exp<V>(V::sub(old_max, max)), exp<V>(V::sub(split_max, max))};
  state.max[pair] = V::first(max);
  state.sum[pair] = V::first(V::fma(V::set1(state.split_sum[pair]), merge.new_part,
                                    V::mul(V::set1(state.sum[pair]), merge.old_part)));
  return merge;
}

/// Weighted values of kTile pairs, kCount groups of 16 columns from d on, merged into y. n_columns
/// of the last group may be under 16.
template <class V, int kTile, int kCount>
void value_tile(const AttentionUnit& op,
                AttentionState<V>& state,
                const Merge<V>* merges,
                i64 pair,
                i64 d,
                KeyRange keys) {
  const i64 n_columns = op.head_dim - d < 16 ? op.head_dim - d : 16;
  const float* weights = state.scores[pair];
  // The same thread is likely to score the next kv head's keys now, which lie behind these.
  const i64 next_head = op.kv_head + 1 < op.n_kv_heads ? kPageTokens * op.head_dim : 0;
  typename V::F sums[kTile][kCount];
  for (int m = 0; m < kTile; ++m) {
    for (int c = 0; c < kCount; ++c)
      sums[m][c] = V::set1(0.0F);
  }
  for (i64 page_begin = keys.begin; page_begin < keys.end; page_begin += kPageTokens) {
    const i64 page = op.pages[page_begin / kPageTokens];
    const i64 in_page = (page * op.n_kv_heads + op.kv_head) * kPageTokens * op.head_dim + d;
    const float* v = op.v + in_page;
    const float* k_ahead = op.k + in_page + next_head;
    const i64 n = keys.end - page_begin < kPageTokens ? keys.end - page_begin : kPageTokens;
    const float* w = weights + page_begin % kKeysPerSplit;
    for (i64 j = 0; j < n; ++j, v += op.head_dim, k_ahead += op.head_dim, ++w) {
      typename V::F values[kCount];
#pragma GCC unroll 4
      for (int c = 0; c < kCount; ++c) {
        values[c] = kCount == 1 ? V::load_n(v, n_columns) : V::load(v + 16 * c);
        V::pin(values[c]);
        V::prefetch(k_ahead + 16 * c);
      }
#pragma GCC unroll 12
      for (int m = 0; m < kTile; ++m) {
        const typename V::F a = V::set1(w[m * kKeysPerSplit]);
#pragma GCC unroll 4
        for (int c = 0; c < kCount; ++c)
          sums[m][c] = V::fma(a, values[c], sums[m][c]);
      }
    }
  }
  for (int m = 0; m < kTile; ++m) {
    for (int c = 0; c < kCount; ++c) {
      float* y = state.y[pair + m] + d + 16 * c;
      const i64 width = kCount == 1 ? n_columns : 16;
      const Merge<V>& merge = merges[pair + m];
      const auto old_part = V::mul(V::load_n(y, width), merge.old_part);
      V::store_n(y, V::fma(sums[m][c], merge.new_part, old_part), width);
    }
  }
}

template <class V, int kTile = V::kTileRows>
void value_pairs(const AttentionUnit& op,
                 AttentionState<V>& state,
                 const Merge<V>* merges,
                 i64 pair,
                 i64 n,
                 KeyRange keys) {
  if (n == kTile) {
    constexpr int kCount = count_beside<V>(kTile);
    i64 d = 0;
    for (; d + kCount * 16 <= op.head_dim; d += kCount * 16)
      value_tile<V, kTile, kCount>(op, state, merges, pair, d, keys);
    for (; d < op.head_dim; d += 16)
      value_tile<V, kTile, 1>(op, state, merges, pair, d, keys);
  } else if constexpr (kTile > 1) {
    value_pairs<V, kTile - 1>(op, state, merges, pair, n, keys);
  }
}

template <class V>
void attend_split(const AttentionUnit& op, AttentionState<V>& state, KeyRange keys) {
  Merge<V> merges[kPairs];
  for (i64 pair = 0; pair < op.n_pairs; pair += V::kTileRows) {
    const i64 n = op.n_pairs - pair < V::kTileRows ? op.n_pairs - pair : V::kTileRows;
    score_pairs<V>(op, state, pair, n, keys);
    for (i64 i = pair; i < pair + n; ++i) {
      weigh_pair<V>(op, state, i, keys);
      merges[i] = merge_pair<V>(state, i);
    }
    value_pairs<V>(op, state, merges, pair, n, keys);
  }
}

template <class V>
void attention_unit(const AttentionUnit& op) {
  AttentionState<V> state;
  start_pairs<V>(op, state);
  const i64 begin = state.first[0] / kPageTokens * kPageTokens;
  const i64 end = state.last[op.n_pairs - 1] + 1;
  for (i64 split = begin / kKeysPerSplit; split * kKeysPerSplit < end; ++split) {
    const i64 split_begin = split * kKeysPerSplit;
    const i64 split_end = split_begin + kKeysPerSplit;
    attend_split<V>(op, state,
                    {split_begin > begin ? split_begin : begin, split_end < end ? split_end : end});
  }
  const auto zero = V::set1(0.0F);
  for (i64 pair = 0; pair < op.n_pairs; ++pair) {
    const auto inverse = V::set1(1.0F / state.sum[pair]);
    for (i64 d = 0; d < op.head_dim; d += 16) {
      const i64 n = op.head_dim - d < 16 ? op.head_dim - d : 16;
      float* y = state.y[pair] + d;
      // Adding 0 makes -0 to +0: which of them stands there may depend on the other pairs.
      V::store_n(y, V::add(V::mul(V::load_n(y, n), inverse), zero), n);
    }
  }
}

}  // namespace sticky::cpu
