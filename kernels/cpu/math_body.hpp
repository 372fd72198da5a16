#pragma once

// exp, tanh and erfc of 16 floats: the same operations in the same order in every instruction set,
// so the same bits. V is one of vec_*.hpp.

namespace sticky::cpu {

/// e^x within 2 units in the last place for -87 <= x <= 88; 0 below (so e^-inf = 0), e^88 above;
/// NaN stays NaN. Source: Cody & Waite 1980, ch. 6 (reduction); Taylor's terms on |r| <= ln(2) / 2,
/// whose remainder r^8 / 8! is under 6e-9.
template <class V>
typename V::F exp(typename V::F x) {
  using F = typename V::F;
  const F lowest = V::set1(-87.0F);
  // 1.5 * 2^23: adding it leaves a rounded integer in the low mantissa bits.
  const F shift = V::set1(12582912.0F);
  const F clamped = V::max(lowest, V::min(V::set1(88.0F), x));
  const F shifted = V::fma(clamped, V::set1(1.44269504F), shift);
  const F n = V::sub(shifted, shift);
  F r = V::fma(n, V::set1(-0.693359375F), clamped);  // ln(2) = 0.693359375 - 2.12194440e-4
  r = V::fma(n, V::set1(2.12194440e-4F), r);
  F p = V::set1(1.0F / 5040.0F);
  p = V::fma(p, r, V::set1(1.0F / 720.0F));
  p = V::fma(p, r, V::set1(1.0F / 120.0F));
  p = V::fma(p, r, V::set1(1.0F / 24.0F));
  p = V::fma(p, r, V::set1(1.0F / 6.0F));
  p = V::fma(p, r, V::set1(0.5F));
  p = V::fma(p, r, V::set1(1.0F));
  p = V::fma(p, r, V::set1(1.0F));
  return V::select_less(x, lowest, V::set1(0.0F), V::mul(p, V::power_of_two(shifted)));
}

/// Source: the identity tanh(x) = 1 - 2 / (e^2x + 1); below 0.625, where it cancels, the polynomial
/// of Cephes (Moshier, tanhf.c).
template <class V>
typename V::F tanh(typename V::F x) {
  using F = typename V::F;
  const F one = V::set1(1.0F);
  const F square = V::mul(x, x);
  F p = V::set1(-5.70498872745e-3F);
  p = V::fma(p, square, V::set1(2.06390887954e-2F));
  p = V::fma(p, square, V::set1(-5.37397155531e-2F));
  p = V::fma(p, square, V::set1(1.33314422036e-1F));
  p = V::fma(p, square, V::set1(-3.33332819422e-1F));
  const F small = V::fma(V::mul(p, square), x, x);
  const F e = exp<V>(V::add(x, x));
  const F large = V::sub(one, V::div(V::set1(2.0F), V::add(e, one)));
  return V::select_less(square, V::set1(0.625F * 0.625F), small, large);
}

/// erfc(|x|), relative error under 1.2e-7 beside the roundings of exp's argument.
/// Source: Press et al., Numerical Recipes, 2nd ed., erfcc.
template <class V>
typename V::F erfc_of_magnitude(typename V::F x) {
  using F = typename V::F;
  const F z = V::max(x, V::sub(V::set1(0.0F), x));
  const F t = V::div(V::set1(1.0F), V::fma(V::set1(0.5F), z, V::set1(1.0F)));
  F p = V::set1(0.17087277F);
  p = V::fma(p, t, V::set1(-0.82215223F));
  p = V::fma(p, t, V::set1(1.48851587F));
  p = V::fma(p, t, V::set1(-1.13520398F));
  p = V::fma(p, t, V::set1(0.27886807F));
  p = V::fma(p, t, V::set1(-0.18628806F));
  p = V::fma(p, t, V::set1(0.09678418F));
  p = V::fma(p, t, V::set1(0.37409196F));
  p = V::fma(p, t, V::set1(1.00002368F));
  p = V::fma(p, t, V::set1(-1.26551223F));
  return V::mul(t, exp<V>(V::sub(p, V::mul(z, z))));
}

}  // namespace sticky::cpu
