#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky::cli {

/// Fields of /proc/PID/stat. With its start time a pid names one process for ever.
struct ProcessStat {
  pid_t parent = 0;
  i64 start_ticks = 0;
  bool has_ended = false;  ///< only waits for its parent to ask for it
};
[[nodiscard]] std::optional<ProcessStat> stat_of(pid_t pid);

[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);

/// This program's own file, absolute.
[[nodiscard]] std::string own_path();

}  // namespace sticky::cli
