#include "rope_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sticky::model {

// Between the two bounds the frequency (not the divisor) is interpolated, linearly in the pair's
// number.
std::vector<double> yarn_divisors(const Yarn& yarn, i64 rotary_dim, double theta) {
  const auto dim = static_cast<double>(rotary_dim);
  // The (fractional) pair that turns so often in the original context.
  const auto pair_of_turns = [&](double turns) {
    return dim *
           std::log(static_cast<double>(yarn.original_context) / (turns * 2.0 * std::numbers::pi)) /
           (2.0 * std::log(theta));
  };
  double first = pair_of_turns(yarn.fast);
  double last = pair_of_turns(yarn.slow);
  if (yarn.truncate) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, dim - 1.0);
  if (first == last) last += 0.001;
  std::vector<double> divisors;
  for (i64 i = 0; i < rotary_dim / 2; ++i) {
    const double slowed = std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0);
    divisors.push_back(1.0 / (slowed / yarn.factor + (1.0 - slowed)));
  }
  return divisors;
}

double yarn_sharpening(double factor, double weight) {
  return factor <= 1.0 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0;
}

double longrope_sharpening(double factor, i64 original_context) {
  if (factor <= 1.0 || original_context <= 1) return 1.0;
  return std::sqrt(1.0 + std::log(factor) / std::log(static_cast<double>(original_context)));
}

}  // namespace sticky::model
