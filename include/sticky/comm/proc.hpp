#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky::comm {

/// Fields of /proc/PID/stat. With its start time a pid names one process for ever.
struct ProcessStat {
  pid_t parent = 0;
  i64 start_ticks = 0;
  bool has_ended = false;  ///< only waits for its parent to ask for it
};
[[nodiscard]] std::optional<ProcessStat> stat_of(pid_t pid);

[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);  ///< those that have ended too
/// Those that have not.
[[nodiscard]] std::vector<pid_t> living_children_of(pid_t parent);

/// The program's file, absolute; empty when it is not for this user to know, or the process has
/// ended.
[[nodiscard]] std::string program_of(pid_t pid);
[[nodiscard]] std::string own_path();  ///< that of this process

}  // namespace sticky::comm
