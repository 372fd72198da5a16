#include <filesystem>

#include <fmt/format.h>

#include "sticky/base/standard_streams.hpp"
#include "sticky/comm/mpi_session.hpp"
#include "sticky/io/input_reader.hpp"

#include "commands.hpp"
#include "finished.hpp"
#include "flag_sources.hpp"
#include "rank.hpp"
#include "run_files.hpp"
#include "start.hpp"

namespace sticky::cli {

int resume(const Invoked& invoked, const ResumeFlags& flags) {
  const std::string run_dir = absolute_path(flags.run_dir);
  RankJob job{.mode = io::RunFolder::Mode::resume,
              .resumed_dir = run_dir,
              .prints_progress = !flags.launch.is_quiet};
  job.sources.sets = flags.sets;
  add_launch_sources(flags.launch, job.sources);
  job.retry = {.retry_errors = !flags.retry.empty(),
               .retry_code = flags.retry == kRetryAll ? "" : flags.retry};
  if (comm::is_under_launcher()) return run_rank(invoked, job);

  // The ranks read the same command line, relative to where it was typed.
  const std::string typed_in = current_directory();
  const config::Loaded loaded = load_resumed(job);
  if (!loaded.problems.empty()) {
    print_problems(loaded.problems);
    return 1;
  }
  (void)io::open_input(loaded.config.input);
  const auto finished =
      flags.launch.is_print_only ? std::nullopt : finished_run(run_dir, loaded, job.retry);
  if (finished) {
    tell("{}\n", finished->text);
    return finished->exit_code;
  }
  std::error_code ignored;  // mpirun would tell
  std::filesystem::current_path(typed_in, ignored);
  return start_ranks(invoked, flags.launch, loaded.config, run_dir, {});
}

}  // namespace sticky::cli
