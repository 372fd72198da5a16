#include "position_tables.hpp"

#include <cmath>

namespace sticky::model {

PositionTables make_position_tables(const ModelSpec& spec, i64 n_positions) {
  const i64 n_pairs = spec.rotary_dim / 2;
  std::vector<double> frequencies;
  for (i64 i = 0; i < n_pairs; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(spec.rotary_dim);
    const double divisor =
        spec.rope_divisors.empty() ? 1.0 : spec.rope_divisors[static_cast<std::size_t>(i)];
    frequencies.push_back(std::pow(spec.rope_theta, exponent) / divisor);
  }
  PositionTables tables;
  for (i64 p = 0; p < n_positions; ++p) {
    for (const double frequency : frequencies) {
      const double angle = static_cast<double>(p) * frequency;
      tables.cos.push_back(static_cast<float>(std::cos(angle)));
      tables.sin.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  return tables;
}

}  // namespace sticky::model
