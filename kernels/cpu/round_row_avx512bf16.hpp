#pragma once

#include <cstdint>
#include <immintrin.h>

#include "kernels/cpu/kernel_table.hpp"

namespace sticky::cpu {

/// V: the unit's own Vec, so that each unit has its own copy.
template <class V>
void round_row(const RoundedRow& op) {
  static_assert(kDepthBlock == 32);
  const i64 n_pieces = (op.n + kDepthBlock - 1) / kDepthBlock;
  for (i64 piece = 0; piece < n_pieces; ++piece) {
    const i64 left = op.n - piece * kDepthBlock;
    const float* from = op.from + piece * kDepthBlock;
    const __m512 low = V::load_n(from, left < 16 ? left : 16);
    const __m512 high = V::load_n(from + 16, left < 16 ? 0 : left < 32 ? left - 16 : 16);
    _mm512_storeu_si512(op.to + piece * op.piece_stride,
                        __builtin_bit_cast(__m512i, _mm512_cvtne2ps_pbh(high, low)));
  }
}

}  // namespace sticky::cpu
