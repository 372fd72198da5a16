#pragma once

#include "kernels/cpu/kernel_table.hpp"

// One tile: kRows rows of x times kGroups groups of 16 columns. Each sum is one lane of one
// register and takes k in ascending order; where rows are few, more columns hide the latency of the
// fma. V is one of vec_*.hpp; T, below, says what is multiplied.

namespace sticky::cpu {

/// f32 times f32.
template <class Vec>
struct TimesF32 {
  using V = Vec;
  using X = float;
  using W = float;
  static constexpr i64 kDepth = 1;  ///< values of k that one multiplication takes
  static typename V::F load_columns(const W* panel_row, int half) {
    return V::load(panel_row + 16 * half);
  }
  static typename V::F repeat(const X* x) { return V::set1(*x); }
  static typename V::F multiply_add(typename V::F a, typename V::F b, typename V::F sum) {
    return V::fma(a, b, sum);
  }
};

/// f32 times bf16, which is widened: the same bits as TimesF32 with the same numbers.
template <class Vec>
struct TimesBf16 : TimesF32<Vec> {
  using V = Vec;
  using W = std::uint16_t;
  static typename V::F load_columns(const W* panel_row, int half) {
    return V::load_half(panel_row, half);
  }
};

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

/// Memory to ask for while a tile is computed: one place for each k, bytes_per_k apart.
struct Ahead {
  const char* from = nullptr;
  i64 bytes_per_k = 0;
};

/// How far ahead a tile with few rows, which waits for memory only, asks for the weights.
inline constexpr i64 kStreamAheadBytes = 4096;

template <class T, int kRows, int kGroups>
void gemm_tile(const GemmBlock& op, i64 row, i64 group, Ahead ahead) {
  using V = typename T::V;
  // Three rows share a pointer: with one each, g++ runs out of registers and fetches pointers from
  // vector registers, which takes the place of fma.
  const auto* x0 = static_cast<const typename T::X*>(op.x) + row * op.x_stride;
  const auto* x3 = x0 + (kRows > 3 ? 3 : 0) * op.x_stride;
  const auto* x6 = x0 + (kRows > 6 ? 6 : 0) * op.x_stride;
  const auto* x9 = x0 + (kRows > 9 ? 9 : 0) * op.x_stride;
  const auto* w = static_cast<const typename T::W*>(op.panels) + group / 2 * kPanel * op.k;
  const int first_half = static_cast<int>(group % 2);
  typename V::F sums[kRows][kGroups];
  for (int m = 0; m < kRows; ++m) {
    for (int g = 0; g < kGroups; ++g)
      sums[m][g] = V::set1(0.0F);
  }
  for (i64 k = 0; k < op.k; k += T::kDepth) {
    decltype(T::load_columns(w, 0)) columns[kGroups];
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) {
      const auto* from = w + g / 2 * kPanel * op.k + k * kPanel;
      columns[g] = T::load_columns(from, (first_half + g) % 2);
      V::pin(columns[g]);
      if (kGroups > 2)
        V::prefetch(reinterpret_cast<const char*>(from) + g % 2 * 64 + kStreamAheadBytes);
    }
    if (kGroups <= 2) {
      V::prefetch(ahead.from);
      ahead.from += ahead.bytes_per_k;
    }
#pragma GCC unroll 12
    for (int m = 0; m < kRows; ++m) {
      const auto* x = m < 3 ? x0 : m < 6 ? x3 : m < 9 ? x6 : x9;
      const auto a = T::repeat(x + m % 3 * op.x_stride);
#pragma GCC unroll 8
      for (int g = 0; g < kGroups; ++g)
        sums[m][g] = T::multiply_add(a, columns[g], sums[m][g]);
    }
    x0 += T::kDepth;
    x3 += T::kDepth;
    x6 += T::kDepth;
    x9 += T::kDepth;
    asm("" : "+r"(x0), "+r"(x3), "+r"(x6), "+r"(x9));
  }
#pragma GCC unroll 12
  for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g)
      finish_columns<V>(op, row + m, 16 * (group + g), sums[m][g]);
  }
}

template <class T, int kRows>
void gemm_rows(const GemmBlock& op, i64 row, i64 first_group, i64 n_groups, Ahead ahead) {
  constexpr int kGroups = groups_beside<typename T::V>(kRows);
  constexpr int kRest = kGroups < 2 ? kGroups : 2;  // a panel; half of one where registers are few
  i64 group = first_group;
  const i64 end = first_group + n_groups;
  for (; group + kGroups <= end; group += kGroups)
    gemm_tile<T, kRows, kGroups>(op, row, group, ahead);
  for (; group < end; group += kRest)
    gemm_tile<T, kRows, kRest>(op, row, group, ahead);
}

template <class T, int kRows = T::V::kTileRows>
void gemm_some_rows(
    const GemmBlock& op, i64 row, i64 n_rows, i64 first_group, i64 n_groups, Ahead ahead) {
  if (n_rows == kRows) return gemm_rows<T, kRows>(op, row, first_group, n_groups, ahead);
  if constexpr (kRows > 1)
    gemm_some_rows<T, kRows - 1>(op, row, n_rows, first_group, n_groups, ahead);
}

template <class T>
void gemm_block(const GemmBlock& op) {
  constexpr i64 kTileRows = T::V::kTileRows;
  constexpr i64 kRowBytes = kPanel * static_cast<i64>(sizeof(typename T::W)) * T::kDepth;
  const i64 n_tiles = (op.n_rows + kTileRows - 1) / kTileRows;
  const auto n_groups = static_cast<i64>((op.n + kPanel - 1) / kPanel * 2);
  const i64 panel_bytes = op.k / T::kDepth * kRowBytes;
  if (n_tiles == 1) {
    const char* next = static_cast<const char*>(op.panels) + kStreamAheadBytes;
    if (groups_beside<typename T::V>(static_cast<int>(op.n_rows)) > 2)
      return gemm_some_rows<T>(op, 0, op.n_rows, 0, n_groups, {});
    for (i64 group = 0; group < n_groups; group += 2, next += panel_bytes)
      gemm_some_rows<T>(op, 0, op.n_rows, group, 2, {next, kRowBytes});
    return;
  }
  // A panel is used by all tiles of rows while it is in the cache, and each of them asks for a part
  // of the next panel.
  for (i64 group = 0; group < n_groups; group += 2) {
    const char* next = static_cast<const char*>(op.panels) + (group / 2 + 1) * panel_bytes;
    for (i64 tile = 0; tile < n_tiles; ++tile) {
      const i64 row = op.n_rows * tile / n_tiles;
      const i64 end = op.n_rows * (tile + 1) / n_tiles;
      gemm_some_rows<T>(op, row, end - row, group, 2,
                        {next + panel_bytes * tile / n_tiles, kRowBytes / n_tiles});
    }
  }
}

}  // namespace sticky::cpu
