#pragma once

#include "sticky/tensor/matrix.hpp"

namespace sticky {

/// x[t, c] = cap * tanh(x[t, c] / cap), in place.
///
/// Source: Gemma 2 report 2024, section 2 (logit soft-capping). Shapes: x [n_rows, cols] f32;
/// cap > 0.
struct Softcap {
  Matrix x;
  float cap = 0.0F;
};

}  // namespace sticky
