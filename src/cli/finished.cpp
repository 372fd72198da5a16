#include "finished.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/io/input_reader.hpp"

#include "json_fields.hpp"
#include "lock_view.hpp"
#include "progress_line.hpp"
#include "run_files.hpp"
#include "watched_input.hpp"

namespace sticky::cli {
namespace {

constexpr int kSomeFailed = 3;

// A damaged summary is for the resumed run to replace.
std::optional<Json> summary_of_complete_run(const std::string& run_dir) {
  try {
    auto summary = read_summary(run_dir);
    if (!summary || text_at(*summary, "ending") != "complete") return std::nullopt;
    const i64 exit_code = integer_at(*summary, "exit_code");
    return exit_code == 0 || exit_code == kSomeFailed ? std::move(summary) : std::nullopt;
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

// Keys that decide on a run with all its answers: the order of the files, the refusal of the input.
bool is_asked_for_more(const Json& summary, const config::Loaded& loaded) {
  const Json now = config::effective_json(loaded);
  const Json* before = summary.find("config");
  const auto value_in = [](const Json* config, const char* key) {
    const Json* member = config == nullptr ? nullptr : config->find(key);
    const Json* value = member == nullptr ? nullptr : member->find("value");
    return value == nullptr ? std::string() : value->dump();
  };
  return std::ranges::any_of(
      std::initializer_list<const char*>{"output.order", "input.strict"},
      [&](const char* key) { return value_in(before, key) != value_in(&now, key); });
}

}  // namespace

std::optional<Finished> finished_run(const std::string& run_dir,
                                     const config::Loaded& loaded,
                                     const io::ResumeOptions& retry,
                                     const std::function<void()>& on_line) {
  const auto lock = lock_of(run_dir);
  if (lock && lock->is_in_use) return std::nullopt;
  const auto summary = summary_of_complete_run(run_dir);
  if (!summary || is_asked_for_more(*summary, loaded)) return std::nullopt;
  io::InputOptions options = loaded.config.input;
  if (std::ranges::count(options.files, "-") > 0) {
    options.kept_standard_input = (std::filesystem::path(run_dir) / "stdin.jsonl").string();
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(options.kept_standard_input, ignored))
      return std::nullopt;
  }
  WatchedInput input(io::open_input(options), on_line);
  try {
    if (!io::is_all_done(run_dir, input, retry)) return std::nullopt;
  } catch (const FormatError&) {  // an input that is damaged: the resumed run tells
    return std::nullopt;
  }
  const Json* counts = summary->find("counts");
  const i64 n_requests = counts == nullptr ? 0 : integer_at(*counts, "requests");
  const auto exit_code = static_cast<int>(integer_at(*summary, "exit_code"));
  return Finished{exit_code,
                  fmt::format("{}: nothing is left to do: {} (exit code {})", run_dir,
                              n_requests == 1 ? "the only request has its record"
                                              : fmt::format("all {} requests have their records",
                                                            with_commas(n_requests)),
                              exit_code)};
}

}  // namespace sticky::cli
