#pragma once

#include <string>
#include <vector>

#include "sticky/config/load.hpp"

#include "commands.hpp"

namespace sticky::cli {

/// Prints problems, one a line.
void print_problems(const std::vector<config::Problem>& problems);

/// Starts the command that was typed again, under MPI, as a coordinator and its workers.
/// `extra`: arguments that the ranks need and the user did not type. Gives the exit code.
[[nodiscard]] int start_ranks(const Invoked& invoked,
                              const LaunchFlags& flags,
                              const config::Config& config,
                              const std::string& run_dir,
                              std::vector<std::string> extra);

}  // namespace sticky::cli
