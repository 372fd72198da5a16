#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "sticky/base/types.hpp"

namespace sticky::cli {

/// The lock of a run folder as another process sees it.
struct LockView {
  std::string token;  ///< another one for each holder
  std::string host;
  pid_t pid = 0;
  i64 start_ticks = 0;
  bool is_local = false;   ///< same host, boot and pid namespace: the pid means a process here
  bool is_in_use = false;  ///< its process lives; seen from elsewhere: its beat is fresh
};
/// Nothing when there is no lock, or none that can be read.
[[nodiscard]] std::optional<LockView> lock_of(const std::string& run_dir);

/// Whether the process that a local lock names still runs.
[[nodiscard]] bool is_holder_alive(const LockView& lock);

}  // namespace sticky::cli
