#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "sticky/base/error.hpp"

#include "commands.hpp"
#include "json_fields.hpp"
#include "progress_line.hpp"
#include "run_files.hpp"
#include "summary.hpp"
#include "terminal.hpp"

namespace sticky::cli {
namespace {

constexpr int kNotFinished = 4;

// Judged by the beat that its coordinator renews: another host's processes cannot be seen.
bool is_alive(const std::string& run_dir) {
  constexpr std::chrono::seconds kStale{60};
  std::error_code error;
  const auto written =
      std::filesystem::last_write_time(std::filesystem::path(run_dir) / "lock", error);
  return !error && std::filesystem::file_time_type::clock::now() - written < kStale;
}

std::string workers_table(const Json& status) {
  std::string out = fmt::format("{:>6}  {:8}  {:24}  {:>8}  {:>7}  {:>5}  {}\n", "worker", "state",
                                "host:pid", "answered", "failed", "held", "what");
  for (const Json& worker : array_at(status, "workers")) {
    out += fmt::format("{:>6}  {:8}  {:24}  {:>8}  {:>7}  {:>5}  {}\n",
                       integer_at(worker, "worker"), text_at(worker, "state"),
                       fmt::format("{}:{}", text_at(worker, "host"), integer_at(worker, "pid")),
                       with_commas(integer_at(worker, "results")),
                       with_commas(integer_at(worker, "errors")), integer_at(worker, "held"),
                       text_at(worker, "description"));
  }
  for (const Json& loss : array_at(status, "losses"))
    out += fmt::format("lost: worker {} after {}: {}\n", integer_at(loss, "worker"),
                       clock_time(number_at(loss, "at_seconds")), text_at(loss, "reason"));
  return out;
}

// Over the whole run: one look at a file has no moment before it to compare with.
Rates overall_rates(const ProgressView& view) {
  if (view.seconds <= 0.0) return {};
  return {.requests = static_cast<double>(view.n_new) / view.seconds,
          .prompt_tokens = static_cast<double>(view.prompt_tokens) / view.seconds,
          .completion_tokens = static_cast<double>(view.completion_tokens) / view.seconds};
}

void watch(const std::string& run_dir) {
  constexpr std::chrono::seconds kEvery{1};
  LivingLine living(STDOUT_FILENO);
  RateMeter rates;
  while (!read_summary(run_dir) && is_alive(run_dir)) {
    const auto status = read_status(run_dir);
    const auto view = status ? view_of(*status) : std::nullopt;
    if (view && is_terminal(STDOUT_FILENO)) living.show(progress_line(*view, rates.update(*view)));
    std::this_thread::sleep_for(kEvery);
  }
}

// FormatError for a summary that cannot be trusted: its exit code least of all.
int show(const std::string& run_dir) {
  if (const auto summary = read_summary(run_dir)) {
    fmt::print("{}", summary_text(*summary, run_dir));
    return static_cast<int>(integer_at(*summary, "exit_code"));
  }
  const auto status = read_status(run_dir);
  const auto view = status ? view_of(*status) : std::nullopt;
  if (view)
    fmt::print("{}\n{}", progress_line(*view, overall_rates(*view)), workers_table(*status));
  if (!is_alive(run_dir))
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
