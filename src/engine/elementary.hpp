#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace sticky::engine {

// exp and log in double from additions, multiplications and divisions alone. The C library chooses
// between variants by the processor, which differ in the last bit: a draw or a logged probability
// must not depend on the node.

inline constexpr double kLn2High = 0x1.62e42feep-1;  ///< its product with an exponent is exact
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

/// e^x for x <= 0 within 2 units in the last place; 0 below -1022.5 ln 2 = -708.74 and for NaN.
/// Free of branches, so that a loop over it becomes vector code.
[[nodiscard]] inline double exp_nonpositive(double x) {
  constexpr double kRound = 0x1.8p52;  // added: the integer stands in the low bits
  const double clamped = x > -709.0 ? x : -709.0;
  const double shifted = clamped * 0x1.71547652b82fep0 + kRound;
  const double n = shifted - kRound;
  const double r = (clamped - n * kLn2High) - n * kLn2Low;  // |r| <= ln2 / 2
  // Taylor to r^13: the rest is below 5e-18.
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  // At n = -1023 the exponent field is 0, and so is the power.
  const double power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
  return p * power;
}

/// ln x for a normal x > 0, to an absolute error of 1e-15 plus 2 units in the last place.
[[nodiscard]] inline double log_positive(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // exact
  if (mantissa < 0x1.6a09e667f3bcdp-1) {       // sqrt(1/2)
    mantissa *= 2.0;
    --exponent;
  }
  // ln m = 2 artanh s; the term behind s^21 is below 1e-18.
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double z = s * s;
  double p = 0.0;
  for (int k = 21; k >= 1; k -= 2)
    p = p * z + 1.0 / k;
  return exponent * kLn2High + (2.0 * s * p + exponent * kLn2Low);
}

}  // namespace sticky::engine
