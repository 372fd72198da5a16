#pragma once

#include <span>

#include "kernels/kv_pages.hpp"
#include "sticky/tensor/matrix.hpp"

namespace sticky {

/// y[t, :] = table[tokens[t], :] * scale (+ positions[p, :], where row t stands at position p)
///
/// Shapes: table [vocab, d_model] in f32, bf16 or f16; y [n_tokens, d_model] f32; positions
/// [n_positions, d_model] f32, or empty: none are added, and sequences are not looked at. An id
/// outside the table, or a position outside its own: std::invalid_argument.
struct Embed {
  std::span<const i32> tokens;
  ConstMatrix table;
  float scale = 1.0F;
  ConstMatrix positions = {};
  std::span<const SequenceRows> sequences = {};
  Matrix y;
};

}  // namespace sticky
