#pragma once

#include "config_reader.hpp"
#include "gguf_config.hpp"
#include "hf_config.hpp"

namespace sticky::model {

/// What Gemma 2 and Gemma 3 share: norms around attention and MLP with weights less one, scaled
/// embeddings, a scale of attention of its own, a tied head. No rotary positions, windows or caps
/// yet.
[[nodiscard]] ModelSpec read_gemma(ConfigReader& config,
                                   const checkpoint::Checkpoint& checkpoint,
                                   std::string_view family);
/// The same of a GGUF file. It has no key for the scale of attention, which is head_dim^-0.5 in all
/// published models but those of 27B, told by their number of layers.
[[nodiscard]] ModelSpec read_gguf_gemma(ConfigReader& config,
                                        const checkpoint::Checkpoint& checkpoint,
                                        std::string_view family,
                                        i64 n_layers_of_27b);

}  // namespace sticky::model
