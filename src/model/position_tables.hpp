#pragma once

#include <vector>

#include "sticky/base/types.hpp"
#include "sticky/model/spec.hpp"

namespace sticky::model {

/// cos and sin of every position's angles, [n_positions, rotary_dim / 2] each:
///   angle[p, i] = p * theta^(-2i / rotary_dim) / rope_divisors[i]
/// computed in double and rounded once, so that late positions are as exact as early ones.
struct PositionTables {
  std::vector<float> cos;
  std::vector<float> sin;
};
[[nodiscard]] PositionTables make_position_tables(const ModelSpec& spec, i64 n_positions);

}  // namespace sticky::model
