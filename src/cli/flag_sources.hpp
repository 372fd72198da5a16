#pragma once

#include "sticky/config/load.hpp"

#include "commands.hpp"

namespace sticky::cli {

/// A configuration's sources: job file, --set, flags.
[[nodiscard]] config::Sources sources_of(const JobFlags& flags);
/// Those launch flags that are keys of a job file too.
void add_launch_sources(const LaunchFlags& flags, config::Sources& sources);

}  // namespace sticky::cli
