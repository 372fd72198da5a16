#pragma once

#include "sticky/tensor/matrix.hpp"

namespace sticky::cpu {

/// How the columns of a norm's rows fall into groups.
struct NormGroups {
  i64 n = 1;            ///< groups of a row
  i64 width = 0;        ///< columns of one
  i64 weight_step = 0;  ///< from one group's weights to the next's; 0: all use the same
};

/// Throws std::invalid_argument, beginning with the name of the operation, when the shapes of a
/// norm disagree; bias may be empty.
NormGroups norm_groups(
    const char* op, ConstMatrix x, ConstMatrix weight, ConstMatrix bias, i64 group, ConstMatrix y);

}  // namespace sticky::cpu
