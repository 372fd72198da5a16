#pragma once

#include "kernels/glu.hpp"
#include "sticky/tensor/matrix.hpp"

namespace sticky {

/// y[t, c] = act(x[t, c]), for an MLP without a gate.
///
/// Shapes: x, y [n_tokens, d_ff], f32. y may be x.
struct Activate {
  ConstMatrix x;
  Activation activation = Activation::silu;
  Matrix y;
};

}  // namespace sticky
