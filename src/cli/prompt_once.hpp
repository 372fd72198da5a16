#pragma once

#include <string>

#include "sticky/config/config.hpp"

namespace sticky::cli {

/// Loads the model in this process, answers one prompt (as a chat where the model has a template)
/// and prints the text to standard output. Gives the exit code.
[[nodiscard]] int answer_prompt(const config::Config& config, const std::string& prompt);

}  // namespace sticky::cli
