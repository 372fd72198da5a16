#pragma once

#include <functional>
#include <string>

#include "sticky/base/types.hpp"
#include "sticky/config/config.hpp"

namespace sticky::cli {

/// What reading all input lines, as a worker would, has found.
struct InputCheck {
  i64 n_lines = 0;
  i64 n_bad = 0;
  std::string first_problem;
  i64 prompt_tokens = 0;  ///< of the good lines
  i64 longest_prompt = 0;
  i64 most_new_tokens = 0;  ///< sum of what answers may have at most, within the context
};

/// Parses, renders and counts every line; loads no weights. `on_problem` gets each bad line:
/// "FILE:LINE: code: sentence". Throws what opening model or input throws.
[[nodiscard]] InputCheck check_input(
    const config::Config& config,
    const std::function<void(const std::string&)>& on_problem,
    const std::function<void()>& on_line = [] {});

/// The same as far as it needs no model: JSON, ids, parameters. Counts no tokens.
[[nodiscard]] InputCheck check_lines_alone(
    const config::Config& config, const std::function<void(const std::string&)>& on_problem);

}  // namespace sticky::cli
