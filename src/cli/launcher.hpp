#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sticky::cli {

/// One launch of ranks on behalf of the user.
struct Launch {
  std::vector<std::string> line;  ///< program and arguments
  std::string run_dir;
  bool reads_stdin = false;  ///< the input is standard input: the ranks get ours
  bool draws_line = false;   ///< a living progress line on standard error, from status.json
  /// After which a launch that no coordinator has come of is ended. Longer than ranks wait for each
  /// other themselves. Nothing: for ever (srun may have to wait for its nodes).
  std::optional<std::chrono::milliseconds> start_limit = {};
};

/// Starts the ranks in a process group of their own, turns the first SIGINT, SIGTERM or SIGHUP into
/// a drain (SIGUSR1 to the coordinator; to mpirun or srun, which pass it on, when that is on
/// another host) and the second into an end right now, and waits. A coordinator that dies takes the
/// others along within seconds. Whatever ended it, no process it started is alive afterwards:
/// orphans of mpirun become its own children and are killed. Gives the run's exit code: that of the
/// summary.json this run wrote; else 4 when there is something to go on with or the user stopped
/// it, 5 when the run did not start, 1 when there is no such launcher. A launch whose ranks here
/// have all ended, or that runs out of `start_limit`, before a coordinator took the folder, is
/// ended too and has not started.
[[nodiscard]] int launch(const Launch& launch);

}  // namespace sticky::cli
