#pragma once

#include "sticky/base/types.hpp"

namespace sticky::topology {

/// CPUs that this process may use: those of its affinity mask, or fewer where a cgroup (version 1
/// or 2) grants less processor time, rounded up. At least 1. Looked up at each call.
[[nodiscard]] i64 usable_cpus();

}  // namespace sticky::topology
