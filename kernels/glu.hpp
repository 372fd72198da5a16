#pragma once

#include "sticky/tensor/matrix.hpp"

namespace sticky {

enum class Activation : std::uint8_t { silu, gelu_tanh, gelu_erf };

/// y[t, c] = act(x[t, c]) * x[t, d_ff + c]: gate columns first, then up.
///
/// Source: Shazeer 2020 (GLU variants). silu(x) = x / (1 + exp(-x)).
/// Shapes: x [n_tokens, 2 d_ff], y [n_tokens, d_ff], f32. y may not overlap x.
struct Glu {
  ConstMatrix x;
  Activation activation = Activation::silu;
  Matrix y;
};

}  // namespace sticky
