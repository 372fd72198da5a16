#pragma once

#include <string_view>

#include "sticky/model/spec.hpp"

#include "config_reader.hpp"

namespace sticky::model {

/// How a family's config speaks of rotary positions.
struct RopeKeys {
  std::string_view theta = "rope_theta";
  double default_theta = 10000.0;
  bool may_be_partial = false;
  std::string_view partial = "partial_rotary_factor";
  double default_partial = 1.0;
};

/// Fills rope and rotary_dim of a spec whose head_dim and context are set. transformers 5 has one
/// object rope_parameters {rope_type, rope_theta, …}; transformers 4 had rope_theta beside
/// rope_scaling {rope_type (before: type), …}. FormatError for a type or key that is not known.
void read_hf_rope(ConfigReader& config, ModelSpec& spec, const RopeKeys& keys = {});

/// One such object by itself; `theta` and the model's original context (0: unknown) hold where it
/// names none. Source of the formulas: modeling_rope_utils.py of transformers.
[[nodiscard]] Rope read_rope_object(ConfigReader& rope,
                                    const ModelSpec& spec,
                                    double theta,
                                    i64 original_context);

}  // namespace sticky::model
