#include "position_tables.hpp"

#include <cmath>

namespace sticky::model {

PositionTables make_position_tables(const Rope& rope, i64 rotary_dim, i64 n_positions) {
  const bool is_long = rope.long_above > 0 && n_positions > rope.long_above;
  const std::vector<double>& divisors = is_long ? rope.long_divisors : rope.divisors;
  std::vector<double> frequencies;
  for (i64 i = 0; i < rotary_dim / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(rotary_dim);
    const double divisor = divisors.empty() ? 1.0 : divisors[static_cast<std::size_t>(i)];
    frequencies.push_back(std::pow(rope.theta, exponent) / divisor);
  }
  PositionTables tables;
  for (i64 p = 0; p < n_positions; ++p) {
    for (const double frequency : frequencies) {
      const double angle = static_cast<double>(p) * frequency;
      tables.cos.push_back(static_cast<float>(rope.scale * std::cos(angle)));
      tables.sin.push_back(static_cast<float>(rope.scale * std::sin(angle)));
    }
  }
  return tables;
}

}  // namespace sticky::model
