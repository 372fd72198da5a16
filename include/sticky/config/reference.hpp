#pragma once

#include <string>

namespace sticky::config {

/// docs/configuration.md: every key of a job file with type, default and meaning.
[[nodiscard]] std::string reference();

}  // namespace sticky::config
