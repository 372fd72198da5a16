#pragma once

#include "kernels/cpu/kernel_table.hpp"
#include "kernels/cpu/math_body.hpp"

// Bodies that work on one row. V is one of vec_*.hpp.

namespace sticky::cpu {

template <class V>
void rmsnorm_row(const RmsNormRow& op) {
  typename V::F squares = V::set1(0.0F);
  for (i64 c = 0; c < op.n; c += 16) {
    const auto x = V::load_n(op.x + c, op.n - c < 16 ? op.n - c : 16);
    squares = V::fma(x, x, squares);
  }
  const float mean = V::sum(squares) / static_cast<float>(op.n);
  const auto scale = V::set1(1.0F / __builtin_sqrtf(mean + op.eps));
  const auto offset = V::set1(op.weight_offset);
  for (i64 c = 0; c < op.n; c += 16) {
    const i64 n = op.n - c < 16 ? op.n - c : 16;
    const auto weight = V::add(offset, V::load_n(op.weight + c, n));
    auto y = V::mul(V::mul(V::load_n(op.x + c, n), scale), weight);
    if (op.accumulate) y = V::add(y, V::load_n(op.y + c, n));
    V::store_n(op.y + c, y, n);
  }
}

/// The first n of 16 columns less their mean; zeros behind, so that they add nothing to a sum.
template <class V>
typename V::F centred(const float* x, i64 n, typename V::F mean) {
  alignas(64) static constexpr float kLanes[] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                 8, 9, 10, 11, 12, 13, 14, 15};
  return V::select_less(V::load(kLanes), V::set1(static_cast<float>(n)),
                        V::sub(V::load_n(x, n), mean), V::set1(0.0F));
}

template <class V>
void layernorm_row(const LayerNormRow& op) {
  using F = typename V::F;
  F sums = V::set1(0.0F);
  for (i64 c = 0; c < op.n; c += 16)
    sums = V::add(sums, V::load_n(op.x + c, op.n - c < 16 ? op.n - c : 16));
  const F mean = V::set1(V::sum(sums) / static_cast<float>(op.n));
  F squares = V::set1(0.0F);
  for (i64 c = 0; c < op.n; c += 16) {
    const F x = centred<V>(op.x + c, op.n - c < 16 ? op.n - c : 16, mean);
    squares = V::fma(x, x, squares);
  }
  const float variance = V::sum(squares) / static_cast<float>(op.n);
  const F scale = V::set1(1.0F / __builtin_sqrtf(variance + op.eps));
  for (i64 c = 0; c < op.n; c += 16) {
    const i64 n = op.n - c < 16 ? op.n - c : 16;
    F y = V::mul(V::mul(centred<V>(op.x + c, n, mean), scale), V::load_n(op.weight + c, n));
    if (op.bias != nullptr) y = V::add(y, V::load_n(op.bias + c, n));
    if (op.accumulate) y = V::add(y, V::load_n(op.y + c, n));
    V::store_n(op.y + c, y, n);
  }
}

template <class V>
typename V::F activate(typename V::F x, Activation activation) {
  using F = typename V::F;
  const F zero = V::set1(0.0F);
  const F one = V::set1(1.0F);
  if (activation == Activation::gelu_erf) {
    const F half = V::mul(V::set1(0.5F), x);
    const F tail = erfc_of_magnitude<V>(V::mul(x, V::set1(0.707106781F)));
    return V::mul(half, V::select_less(x, zero, tail, V::sub(V::set1(2.0F), tail)));
  }
  F u = x;
  if (activation == Activation::gelu_tanh) {
    // (1 + tanh(u)) / 2 = 1 / (1 + e^-2u) with u = sqrt(2 / pi) (x + 0.044715 x^3)
    const F cubic = V::fma(V::mul(V::set1(0.044715F), V::mul(x, x)), x, x);
    u = V::mul(V::set1(1.59576912F), cubic);
  }
  return V::div(x, V::add(one, exp<V>(V::sub(zero, u))));
}

template <class V>
void glu_row(const GluRow& op) {
  for (i64 c = 0; c < op.n; c += 16) {
    const i64 n = op.n - c < 16 ? op.n - c : 16;
    const auto gate = activate<V>(V::load_n(op.gate + c, n), op.activation);
    V::store_n(op.y + c, V::mul(gate, V::load_n(op.up + c, n)), n);
  }
}

template <class V>
void activate_row(const ActivateRow& op) {
  for (i64 c = 0; c < op.n; c += 16) {
    const i64 n = op.n - c < 16 ? op.n - c : 16;
    V::store_n(op.y + c, activate<V>(V::load_n(op.x + c, n), op.activation), n);
  }
}

template <class V>
void softcap_row(const SoftcapRow& op) {
  const auto cap = V::set1(op.cap);
  for (i64 c = 0; c < op.n; c += 16) {
    const i64 n = op.n - c < 16 ? op.n - c : 16;
    V::store_n(op.x + c, V::mul(cap, tanh<V>(V::div(V::load_n(op.x + c, n), cap))), n);
  }
}

}  // namespace sticky::cpu
