#pragma once

#include <vector>

#include "config_reader.hpp"
#include "hf_config.hpp"

namespace sticky::model {

/// The windows of Qwen2 and Qwen3: only with use_sliding_window, and then in layer_types' sliding
/// layers or, without that key, from layer max_window_layers on.
inline std::vector<i64> read_qwen_windows(ConfigReader& config, i64 n_layers) {
  const bool is_used = config.flag_or("use_sliding_window", false);
  const i64 window = config.count_unless_null("sliding_window", 4096).value_or(0);
  const double first = config.number_or("max_window_layers", 28);
  return read_windows(config, n_layers, is_used ? window : 0,
                      [&](i64 layer) { return static_cast<double>(layer) >= first; });
}

}  // namespace sticky::model
