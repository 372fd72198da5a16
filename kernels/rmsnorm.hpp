#pragma once

#include "sticky/tensor/matrix.hpp"

namespace sticky {

/// y[t, c] = x[t, c] / sqrt(mean_c(x[t, c]^2) + eps) * (weight_offset + weight[c])
///
/// Source: Zhang & Sennrich 2019, eq. 4. Gemma stores weight - 1: it sets weight_offset = 1.
/// Shapes: x, y [n_tokens, d_model]; weight [1, d_model], f32. Sums are in f32.
/// y may be x. No tokens: nothing happens. Shapes that disagree: std::invalid_argument.
struct RmsNorm {
  ConstMatrix x;
  ConstMatrix weight;
  float eps = 1e-5F;
  float weight_offset = 0.0F;
  Matrix y;
};

}  // namespace sticky
