#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky::cli {

/// The program that starts ranks, as far as its flags depend on it.
struct MpirunVersion {
  enum class Kind { open_mpi, other, missing };
  Kind kind = Kind::missing;
  i64 major = 0;
  std::string text;  ///< its own first line; empty when missing
};

/// Reads what `mpirun --version` prints: "mpirun (Open MPI) 4.1.4".
[[nodiscard]] MpirunVersion parse_mpirun_version(std::string_view text);
/// Runs `mpirun --version` of the PATH.
[[nodiscard]] MpirunVersion find_mpirun();

struct LaunchRequest {
  std::string launcher = "mpirun";  ///< mpirun | srun
  MpirunVersion mpirun = {};
  bool is_root = false;  ///< Open MPI refuses root without being told
  i64 n_workers = 1;
  std::vector<std::string> program = {};  ///< absolute path and arguments of each rank
};

/// The command that starts one coordinator and the workers. The flags are those measured in
/// docs/decisions/0012-open-mpi.md: several ranks on few cores, no binding (workers bind
/// themselves), and a lost rank does not end the others.
[[nodiscard]] std::vector<std::string> launch_line(const LaunchRequest& request);

/// The program in it that starts the ranks: behind env and what that sets.
[[nodiscard]] std::string starter_of(const std::vector<std::string>& line);
/// The line as a shell would take it.
[[nodiscard]] std::string shell_quoted(const std::vector<std::string>& line);

}  // namespace sticky::cli
