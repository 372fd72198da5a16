#pragma once

#include <vector>

#include "sticky/base/types.hpp"

// How the context of a model was stretched, as formulas: what both formats of checkpoints speak of,
// each in its own keys. Source: modeling_rope_utils.py of transformers.

namespace sticky::model {

/// YaRN (Peng et al. 2023).
struct Yarn {
  double factor = 1.0;
  i64 original_context = 0;
  double fast = 32.0;    ///< pairs that turn more often in the original context stay as they were
  double slow = 1.0;     ///< those that turn less often turn `factor` times slower
  bool truncate = true;  ///< the bounds between these are whole pairs
};

/// ModelSpec's Rope::divisors, [rotary_dim / 2]. slow must be above 0 and fast above slow.
[[nodiscard]] std::vector<double> yarn_divisors(const Yarn& yarn, i64 rotary_dim, double theta);

/// How much attention is sharpened in a context that is `factor` times as long.
[[nodiscard]] double yarn_sharpening(double factor, double weight);

/// The same for LongRoPE (Ding et al. 2024).
[[nodiscard]] double longrope_sharpening(double factor, i64 original_context);

}  // namespace sticky::model
