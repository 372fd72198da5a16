#pragma once

#include "kernels/cpu/kernel_table.hpp"

// One tile: kRows rows of x times kGroups groups of 16 columns. Each sum is one lane of one
// register and takes k in ascending order; where rows are few, more columns hide the latency of the
// fma. V is one of vec_*.hpp.

namespace sticky::cpu {

template <class V>
typename V::F load_columns(const float* panel_row, int half) {
  return V::load(panel_row + 16 * half);
}
template <class V>
typename V::F load_columns(const std::uint16_t* panel_row, int half) {
  return V::load_half(panel_row, half);
}

/// Most groups of 16 columns (8, 4, 2 or 1) whose sums fit into registers beside n_rows rows.
template <class V>
constexpr int groups_beside(int n_rows) {
  int groups = 8;
  while (groups > 1 && groups * n_rows > V::kAccumulators)
    groups /= 2;
  return groups;
}

template <class V>
void finish_columns(const GemmBlock& op, i64 row, i64 column, typename V::F sum) {
  const i64 n = op.n - column < 16 ? op.n - column : 16;
  if (n <= 0) return;
  float* y = op.y + row * op.y_stride + column;
  if (op.bias != nullptr) sum = V::add(sum, V::load_n(op.bias + column, n));
  if (op.accumulate) sum = V::add(sum, V::load_n(y, n));
  V::store_n(y, sum, n);
}

template <class V, class W, int kRows, int kGroups>
void gemm_tile(const GemmBlock& op, i64 row, i64 group) {
  const float* x = static_cast<const float*>(op.x) + row * op.x_stride;
  const W* w = static_cast<const W*>(op.panels) + group / 2 * kPanel * op.k;
  const int first_half = static_cast<int>(group % 2);
  typename V::F sums[kRows][kGroups];
  for (int m = 0; m < kRows; ++m) {
    for (int g = 0; g < kGroups; ++g)
      sums[m][g] = V::set1(0.0F);
  }
  for (i64 k = 0; k < op.k; ++k) {
    typename V::F columns[kGroups];
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) {
      columns[g] = load_columns<V>(w + g / 2 * kPanel * op.k + k * kPanel, (first_half + g) % 2);
      V::pin(columns[g]);
    }
#pragma GCC unroll 12
    for (int m = 0; m < kRows; ++m) {
      const typename V::F a = V::set1(x[m * op.x_stride + k]);
#pragma GCC unroll 8
      for (int g = 0; g < kGroups; ++g)
        sums[m][g] = V::fma(a, columns[g], sums[m][g]);
    }
  }
#pragma GCC unroll 12
  for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g)
      finish_columns<V>(op, row + m, 16 * (group + g), sums[m][g]);
  }
}

template <class V, class W, int kRows>
void gemm_rows(const GemmBlock& op, i64 row, i64 first_group, i64 n_groups) {
  constexpr int kGroups = groups_beside<V>(kRows);
  constexpr int kRest = kGroups < 2 ? kGroups : 2;  // a panel; half of one where registers are few
  i64 group = first_group;
  const i64 end = first_group + n_groups;
  for (; group + kGroups <= end; group += kGroups)
    gemm_tile<V, W, kRows, kGroups>(op, row, group);
  for (; group < end; group += kRest)
    gemm_tile<V, W, kRows, kRest>(op, row, group);
}

template <class V, class W, int kRows = V::kTileRows>
void gemm_some_rows(const GemmBlock& op, i64 row, i64 n_rows, i64 first_group, i64 n_groups) {
  if (n_rows == kRows) return gemm_rows<V, W, kRows>(op, row, first_group, n_groups);
  if constexpr (kRows > 1) gemm_some_rows<V, W, kRows - 1>(op, row, n_rows, first_group, n_groups);
}

template <class V, class W>
void gemm_block(const GemmBlock& op) {
  const i64 n_groups = (op.n + kPanel - 1) / kPanel * 2;
  const i64 n_tiles = (op.n_rows + V::kTileRows - 1) / V::kTileRows;
  // With several tiles of rows, a panel is used by all of them while it is in the cache.
  const i64 step = n_tiles == 1 ? n_groups : 2;
  for (i64 group = 0; group < n_groups; group += step) {
    for (i64 tile = 0; tile < n_tiles; ++tile) {
      const i64 row = op.n_rows * tile / n_tiles;
      const i64 end = op.n_rows * (tile + 1) / n_tiles;
      gemm_some_rows<V, W>(op, row, end - row, group, step);
    }
  }
}

}  // namespace sticky::cpu
