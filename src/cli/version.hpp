#pragma once

#include <string>

namespace sticky::cli {

/// "0.1.0 (commit 1a2b3c4d)".
[[nodiscard]] std::string version();

/// What --version prints: version, MPI, what the CPU can do, GPU support.
[[nodiscard]] std::string version_text();

}  // namespace sticky::cli
