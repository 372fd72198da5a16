#pragma once

#include <vector>

#include "sticky/base/types.hpp"
#include "sticky/model/spec.hpp"

namespace sticky::model {

/// cos and sin of every position's angles times rope.scale, [n_positions, rotary_dim / 2] each:
///   angle[p, i] = p * theta^(-2i / rotary_dim) / divisors[i]
/// computed in double and rounded once, so that late positions are as exact as early ones.
/// n_positions is the state's context: above rope.long_above it takes the long divisors.
struct PositionTables {
  std::vector<float> cos;
  std::vector<float> sin;
};
[[nodiscard]] PositionTables make_position_tables(const Rope& rope,
                                                  i64 rotary_dim,
                                                  i64 n_positions);

}  // namespace sticky::model
