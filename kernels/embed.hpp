#pragma once

#include <span>

#include "sticky/tensor/matrix.hpp"

namespace sticky {

/// y[t, :] = table[tokens[t], :] * scale
///
/// Shapes: table [vocab, d_model] in f32, bf16 or f16; y [n_tokens, d_model] f32. An id outside the
/// table: std::invalid_argument.
struct Embed {
  std::span<const i32> tokens;
  ConstMatrix table;
  float scale = 1.0F;
  Matrix y;
};

}  // namespace sticky
