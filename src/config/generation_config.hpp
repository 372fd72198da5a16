#pragma once

#include <string>
#include <vector>

#include "toml_file.hpp"

namespace sticky::config {

/// What a model's generation_config.json says of sampling, as values of [sampling], read as
/// transformers does: without `"do_sample": true` the best token is taken. Only what stands there:
/// transformers' own defaults (a top_k of 50) are none of the model's. A folder without that file,
/// a GGUF file, and what cannot be read go to `problems`.
[[nodiscard]] std::vector<Entry> read_generation_config(const std::string& model,
                                                        std::vector<Problem>& problems);

}  // namespace sticky::config
