#pragma once

#include "sticky/tensor/matrix.hpp"

namespace sticky {

/// y[t, c] = (x[t, c] - m) / sqrt(v + eps) * weight[c] + bias[c] (+ y[t, c] before, where
/// accumulate)
/// m = mean_g(x[t, g]) and v = mean_g((x[t, g] - m)^2), where g runs over the group of columns that
/// c is in.
///
/// Source: Ba, Kiros & Hinton 2016, eq. 4.
/// Shapes: x, y [n_tokens, cols]; `group` columns are normed together (a head of q or k), 0: all;
/// weight and bias [1, cols], or [1, group] for all groups alike; bias may be empty; f32. Sums are
/// in f32; v is summed when m is known, so that it loses nothing to a large mean.
/// y may be x unless accumulate. No tokens: nothing happens. Shapes that disagree:
/// std::invalid_argument.
struct LayerNorm {
  ConstMatrix x;
  ConstMatrix weight;
  ConstMatrix bias = {};
  float eps = 1e-5F;
  i64 group = 0;
  bool accumulate = false;
  Matrix y;
};

}  // namespace sticky
