#pragma once

#include "sticky/tensor/matrix.hpp"

namespace sticky {

/// y[t, c] = x[t, c] / sqrt(mean_g(x[t, g]^2) + eps) * (weight_offset + weight[c])
/// (+ y[t, c] before, where accumulate), where g runs over the group of columns that c is in.
///
/// Source: Zhang & Sennrich 2019, eq. 4. Gemma stores weight - 1: it sets weight_offset = 1.
/// Shapes: x, y [n_tokens, cols]; `group` columns are normed together (a head of q or k), 0: all;
/// weight [1, cols], or [1, group] for all groups alike; f32. Sums are in f32.
/// y may be x unless accumulate. No tokens: nothing happens. Shapes that disagree:
/// std::invalid_argument.
struct RmsNorm {
  ConstMatrix x;
  ConstMatrix weight;
  float eps = 1e-5F;
  float weight_offset = 0.0F;
  i64 group = 0;
  bool accumulate = false;
  Matrix y;
};

}  // namespace sticky
