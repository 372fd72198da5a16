#pragma once

#include <string>

namespace sticky::cli {

/// What a shell command prints to standard output; empty when it cannot be started.
[[nodiscard]] std::string output_of(const std::string& command);

}  // namespace sticky::cli
