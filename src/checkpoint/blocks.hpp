#pragma once

#include <cstddef>

#include "sticky/checkpoint/checkpoint.hpp"

namespace sticky::checkpoint {

/// The smallest piece of a storage format that can be widened alone. Plain formats have blocks of
/// one element.
struct BlockShape {
  i64 n_elements = 1;
  i64 n_bytes = 4;
};
[[nodiscard]] BlockShape block_shape(Storage storage);

/// Widens n_blocks blocks to f32, exactly as GGML's dequantize_row_* and the Python package gguf
/// do: one f32 rounding per operation, no fused multiply-add.
///   q8_0, q4_0, q5_0   d * q               blocks of 32, d in f16
///   q4_1, q5_1         d * q + m           blocks of 32, d and m in f16
///   q4_k, q5_k         (d * s) * q - dmin * t   super-blocks of 256: 8 groups with 6-bit s and t
///   q6_k               (d * s) * q         super-blocks of 256: 16 groups with 8-bit s
/// Source: ggml-common.h (block layouts), ggml-quants.c. `in` needs no alignment.
void widen(Storage storage, const std::byte* in, i64 n_blocks, float* out);

}  // namespace sticky::checkpoint
