#pragma once

#include "sticky/tensor/matrix.hpp"

namespace sticky {

class Weight;  // sticky/backend/backend.hpp: a packed [n, k] matrix of one backend

/// y[m, n] = sum_k x[m, k] * w[n, k] (+ bias[n]) (+ y[m, n] before, where accumulate)
///
/// Every element of y has ONE f32 accumulator that starts at 0 and takes k in ascending order, one
/// fma each; bias and the old y are added at the end, in this order. So a row's bits do not depend
/// on the number of rows, threads or the instruction set (engine.md: deterministic by design).
/// Shapes: x [m, k] f32; w [n, k]; bias [1, n] f32 or empty; y [m, n] f32. m = 0: nothing happens.
struct Gemm {
  ConstMatrix x;
  const Weight* w = nullptr;
  ConstMatrix bias = {};
  bool accumulate = false;
  Matrix y;
};

}  // namespace sticky
