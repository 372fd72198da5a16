#include "start.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/standard_streams.hpp"
#include "sticky/comm/proc.hpp"

#include "launch_line.hpp"
#include "launcher.hpp"
#include "lock_view.hpp"
#include "run_files.hpp"
#include "terminal.hpp"

namespace sticky::cli {
namespace {

constexpr std::chrono::seconds kStartLimit{330};  // ranks wait 300 s for each other

// srun without PMI gives each of its tasks a world of its own: each would launch the whole job.
void refuse_lone_tasks(const char* n_tasks) {
  if (n_tasks == nullptr || std::atoll(n_tasks) <= 1) return;
  fail<ConfigError>(
      "srun started {} tasks that know nothing of each other: start them with srun --mpi=pmix, or "
      "call the launcher form once, outside srun",
      n_tasks);
}

// The program that starts the ranks passes on standard input and no other descriptor.
void refuse_shell_pipes(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (file.starts_with("/dev/fd/") || file.starts_with("/proc/self/fd/"))
      fail<ConfigError>(
          "input {}: the ranks cannot read a pipe of your shell; hand it in as standard input: "
          "COMMAND | stickyinvoc run … -i -",
          file);
  }
}

}  // namespace

void print_problems(const std::vector<config::Problem>& problems) {
  tell("{}\n", config::to_text(problems));
}

int start_ranks(const Invoked& invoked,
                const LaunchFlags& flags,
                const config::Config& config,
                const std::string& run_dir,
                std::vector<std::string> extra) {
  refuse_lone_tasks(std::getenv("SLURM_STEP_NUM_TASKS"));
  refuse_shell_pipes(config.input.files);
  check_run_dir(run_dir);
  const bool draws_line = !flags.is_print_only && !flags.is_quiet && is_terminal(STDERR_FILENO);
  if (draws_line) extra.emplace_back("--no-progress");  // the ranks'; the line is drawn here
  LaunchRequest request{.launcher = config.run.launcher,
                        .mpirun = {},
                        .is_root = geteuid() == 0,
                        .n_workers = std::max<i64>(1, config.run.n_workers),
                        .program = {comm::own_path()}};
  for (int i = 1; i < invoked.argc; ++i) {
    if (std::string_view(invoked.argv[i]) != "--print-launch")
      request.program.emplace_back(invoked.argv[i]);
  }
  request.program.insert(request.program.end(), extra.begin(), extra.end());
  if (request.launcher == "mpirun") {
    request.mpirun = find_mpirun();
    if (request.mpirun.kind == MpirunVersion::Kind::missing) {
      tell(
          "mpirun was not found: install Open MPI (Debian: openmpi-bin), load its module, or use "
          "--launcher srun inside a Slurm allocation\n");
      return 1;
    }
  }
  const std::vector<std::string> line = launch_line(request);
  if (flags.is_print_only) {
    fmt::print("{}\n", shell_quoted(line));
    return 0;
  }
  if (const auto lock = lock_of(run_dir); lock && lock->is_in_use) {
    tell("{}: a run is at work here (process {} on host {}); look at it with: {} --watch\n",
         run_dir, lock->pid, lock->host, shell_quoted({"stickyinvoc", "status", run_dir}));
    return 1;
  }
  std::signal(SIGPIPE, SIG_IGN);  // who listened may go, the run goes on
  tell("run folder: {}\n", run_dir);
  return launch({.line = line,
                 .run_dir = run_dir,
                 .reads_stdin = std::ranges::count(config.input.files, "-") > 0,
                 .draws_line = draws_line,
                 .start_limit = request.launcher == "mpirun"
                                    ? std::optional<std::chrono::milliseconds>(kStartLimit)
                                    : std::nullopt});
}

}  // namespace sticky::cli
