#pragma once

#include "config_reader.hpp"
#include "hf_config.hpp"

namespace sticky::model {

/// What Gemma 2 and Gemma 3 share: norms around attention and MLP with weights less one, scaled
/// embeddings, a scale of attention of its own, a tied head. No rotary positions, windows or caps
/// yet.
[[nodiscard]] ModelSpec read_gemma(ConfigReader& config,
                                   const checkpoint::Checkpoint& checkpoint,
                                   std::string_view family);

}  // namespace sticky::model
