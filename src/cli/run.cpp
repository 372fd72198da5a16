#include <ctime>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/standard_streams.hpp"
#include "sticky/comm/mpi_session.hpp"
#include "sticky/io/input_reader.hpp"
#include "sticky/io/run_folder.hpp"

#include "commands.hpp"
#include "finished.hpp"
#include "flag_sources.hpp"
#include "prompt_once.hpp"
#include "rank.hpp"
#include "run_files.hpp"
#include "start.hpp"

namespace sticky::cli {
namespace {

config::Sources run_sources(const RunFlags& flags) {
  config::Sources sources = sources_of(flags.job);
  if (!flags.run_dir.empty()) sources.flags.push_back({"-o", "output.dir", flags.run_dir});
  add_launch_sources(flags.launch, sources);
  return sources;
}

}  // namespace

int run(const Invoked& invoked, const RunFlags& flags) {
  config::Sources sources = run_sources(flags);
  if (comm::is_under_launcher()) {
    if (!flags.prompt.empty())
      fail<ConfigError>("--prompt answers in one process: call it without mpirun or srun");
    const auto mode =
        flags.is_resume ? io::RunFolder::Mode::create_or_resume : io::RunFolder::Mode::create;
    return run_rank(
        invoked,
        {.sources = std::move(sources), .mode = mode, .prints_progress = !flags.launch.is_quiet});
  }
  sources.needs_input = flags.prompt.empty();
  const config::Loaded loaded = config::load(sources);
  if (!loaded.problems.empty()) {
    print_problems(loaded.problems);
    return 1;
  }
  if (!flags.prompt.empty()) return answer_prompt(loaded.config, flags.prompt);

  std::string run_dir = loaded.config.output.dir;
  // Nothing is the default, an empty text that somebody gave is a mistake.
  for (const config::Setting& setting : loaded.settings)
    if (setting.key == "output.dir" && run_dir.empty() && setting.origin != "default")
      fail<ConfigError>("{}: output.dir is empty", setting.origin);
  std::vector<std::string> extra;
  if (run_dir.empty()) {
    run_dir = new_run_dir(loaded.config.job, std::time(nullptr));
    extra = {"-o", run_dir};
  }
  if (io::RunFolder::holds_records(run_dir) && !flags.is_resume) {
    tell("{} holds a run already. Go on with it: {}\n", run_dir, resume_line(run_dir));
    return 1;
  }
  (void)io::open_input(loaded.config.input);  // throws for a folder, a file listed twice, …
  const bool may_be_finished = flags.is_resume && !flags.launch.is_print_only;
  if (const auto finished = may_be_finished ? finished_run(run_dir, loaded, {}) : std::nullopt) {
    tell("{}\n", finished->text);
    return finished->exit_code;
  }
  return start_ranks(invoked, flags.launch, loaded.config, run_dir, std::move(extra));
}

}  // namespace sticky::cli
