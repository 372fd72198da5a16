#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "sticky/base/error.hpp"

#include "commands.hpp"
#include "json_fields.hpp"
#include "lock_view.hpp"
#include "progress_line.hpp"
#include "run_files.hpp"
#include "status_view.hpp"
#include "summary.hpp"
#include "terminal.hpp"

namespace sticky::cli {
namespace {

constexpr int kNotFinished = 4;

bool is_at_work(const std::string& run_dir) {
  const auto lock = lock_of(run_dir);
  return lock && lock->is_in_use;
}

void print_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    fmt::print("{}\n", line);
}

// Over the whole run: one look at a file has no moment before it to compare with.
Rates overall_rates(const ProgressView& view) {
  if (view.seconds <= 0.0) return {};
  return {.requests = static_cast<double>(view.n_new) / view.seconds,
          .prompt_tokens = static_cast<double>(view.prompt_tokens) / view.seconds,
          .completion_tokens = static_cast<double>(view.completion_tokens) / view.seconds};
}

// On a terminal the same lines are drawn again and again; elsewhere each event is a line, and how
// far the run is comes every 30 seconds.
void watch(const std::string& run_dir) {
  constexpr std::chrono::seconds kEvery{1};
  constexpr int kBetweenLines = 30;
  const bool is_living = is_terminal(STDOUT_FILENO);
  LivingPicture living(STDOUT_FILENO);
  WatchedRun run;
  for (int n = 0; !read_summary(run_dir) && is_at_work(run_dir); ++n) {
    const auto status = read_status(run_dir);
    const auto news = status ? run.look(*status) : std::vector<std::string>{};
    if (is_living && !run.progress().empty()) {
      living.show(run.picture(living.height()));
    } else if (!is_living) {
      print_lines(news);
      if (run.progress().empty())
        n = -1;  // nothing to tell yet: the first line comes with the first status
      else if (n % kBetweenLines == 0)
        print_lines({run.progress()});
      std::fflush(stdout);
    }
    std::this_thread::sleep_for(kEvery);
  }
  // What came after the last look, so that no older counts stand above the summary.
  const auto status = read_status(run_dir);
  if (is_living || run.progress().empty() || !status) return;
  print_lines(run.look(*status));
  print_lines({run.progress()});
}

// FormatError for a summary that cannot be trusted: its exit code least of all.
int show(const std::string& run_dir) {
  if (const auto summary = read_summary(run_dir)) {
    fmt::print("{}", summary_text(*summary, run_dir));
    return static_cast<int>(integer_at(*summary, "exit_code"));
  }
  const auto status = read_status(run_dir);
  const auto view = status ? view_of(*status) : std::nullopt;
  if (view) {
    fmt::print("{}\n", progress_line(*view, overall_rates(*view)));
    if (const std::string line = wish_line(*status); !line.empty()) fmt::print("{}\n", line);
    print_lines(worker_lines(*status));
    print_lines(loss_lines(*status));
  }
  if (!is_at_work(run_dir))
    fmt::print("no coordinator is at work here: the run was cut short. Go on with: {}\n",
               resume_line(run_dir));
  else if (!view)
    fmt::print("the run is starting\n");
  return kNotFinished;
}

}  // namespace

int status(const StatusFlags& flags) {
  if (!shows_run(flags.run_dir)) fail<ConfigError>("{} holds no run", flags.run_dir);
  if (flags.is_watching) watch(flags.run_dir);
  const int exit_code = show(flags.run_dir);
  return flags.gives_exit_code ? exit_code : 0;
}

}  // namespace sticky::cli
