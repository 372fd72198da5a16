#include "summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sticky/base/counted.hpp"
#include "sticky/coordinator/progress.hpp"

#include "json_fields.hpp"
#include "progress_line.hpp"
#include "run_files.hpp"
#include "version.hpp"

namespace sticky::cli {
namespace {

using coordinator::Progress;

constexpr const char* kFailed = "failed";  // before any work: in place of an Ending

double per_second(i64 n, double seconds) {
  return seconds > 0.0 ? static_cast<double>(n) / seconds : 0.0;
}

// Of the whole folder, earlier runs included: results + errors = requests once it is complete.
Json counts_json(const coordinator::Counts& counts) {
  const i64 n_errors = counts.n_errors_before + counts.n_errors;
  const i64 n_results = counts.n_results_before + counts.n_results;
  // A run that ends before it has read its input knows of no more requests than have records.
  const i64 n_requests = std::max(counts.n_read, n_results + n_errors);
  return Json::object({{"requests", n_requests},
                       {"results", n_results},
                       {"errors", n_errors},
                       {"unanswered", n_requests - n_results - n_errors},
                       {"this_run", coordinator::to_json(counts)}});
}

Json rates_json(const Progress& last, double seconds) {
  const i64 n_new = last.counts.n_results + last.counts.n_errors;
  return Json::object(
      {{"requests_per_second", per_second(n_new, seconds)},
       {"prompt_tokens_per_second", per_second(last.prompt_tokens, seconds)},
       {"completion_tokens_per_second", per_second(last.completion_tokens, seconds)}});
}

double longest_load(const Progress& last) {
  double longest = 0.0;
  for (const auto& worker : last.workers)
    longest = std::max(longest, worker.load_seconds);
  return longest;
}

Json arithmetics_json(const Progress& last) {
  std::set<std::string> names;
  for (const auto& worker : last.workers) {
    if (!worker.arithmetic.empty()) names.insert(worker.arithmetic);
  }
  Json out = Json::array();
  for (const auto& name : names)
    out.push_back(name);
  return out;
}

Json summary_of(const char* ending,
                const coordinator::RunOutcome& outcome,
                const RunFacts& facts,
                const config::Loaded& loaded) {
  const Progress& last = outcome.last;
  const Phases& phases = facts.phases;
  Json json = Json::object({{"exit_code", outcome.exit_code},
                            {"ending", ending},
                            {"reason", outcome.reason},
                            {"started", utc_text(facts.started)},
                            {"ended", utc_text(facts.ended)},
                            {"seconds", phases.prepare + phases.run + phases.finish},
                            {"input_ended", last.has_input_ended},
                            {"counts", counts_json(last.counts)},
                            {"prompt_tokens", last.prompt_tokens},
                            {"completion_tokens", last.completion_tokens},
                            {"rates", rates_json(last, phases.run)},
                            {"phases", Json::object({{"prepare", phases.prepare},
                                                     {"load", longest_load(last)},
                                                     {"run", phases.run},
                                                     {"finish", phases.finish}})},
                            {"arithmetic", arithmetics_json(last)}});
  coordinator::set_workers(json, last, coordinator::kMostGoneInSummary);
  json.set("ranks", facts.n_ranks);
  json.set("mpi",
           Json::object({{"library", facts.mpi_library}, {"capability", facts.mpi_capability}}));
  json.set("version", version());
  json.set("job", loaded.config.job);
  json.set("config", config::effective_json(loaded));
  return json;
}

std::string headline(const Json& summary) {
  const std::string time = clock_time(number_at(summary, "seconds"));
  const std::string ending = text_at(summary, "ending");
  const std::string reason = text_at(summary, "reason");
  if (ending == "complete") return fmt::format("finished in {}", time);
  return fmt::format("ended after {}: {}", time, reason.empty() ? ending : reason);
}

std::string workers_text(const Json& summary) {
  const Json::Array& workers = array_at(summary, "workers");
  std::string arithmetics;
  for (const Json& name : array_at(summary, "arithmetic")) {
    if (name.is_string()) arithmetics += (arithmetics.empty() ? "" : ", ") + name.as_string();
  }
  const Json* phases = summary.find("phases");
  return fmt::format("  workers  {} ({}), model loaded in {:.1f} s\n",
                     std::ssize(workers) + integer_at(summary, "workers_left_out"),
                     arithmetics.empty() ? "none was ready" : arithmetics,
                     phases == nullptr ? 0.0 : number_at(*phases, "load"));
}

std::string losses_text(const Json& summary) {
  constexpr i64 kMostShown = 20;
  const Json::Array& losses = array_at(summary, "losses");
  const i64 n_skipped = std::max<i64>(std::ssize(losses) - kMostShown, 0);
  const i64 n_more = n_skipped + integer_at(summary, "losses_left_out");
  std::string out;
  if (n_more > 0) out += fmt::format("  lost     {} before these\n", n_more);
  for (auto loss = losses.begin() + n_skipped; loss != losses.end(); ++loss) {
    out += fmt::format("  lost     {} after {}: {} ({} went back)\n", lost_name_in(*loss),
                       clock_time(number_at(*loss, "at_seconds")), text_at(*loss, "reason"),
                       counted(integer_at(*loss, "returned"), "request"));
  }
  return out;
}

std::string counts_text(const Json& summary, const Json& counts) {
  const i64 n_unanswered = integer_at(counts, "unanswered");
  const bool is_more_unread =
      summary.find("input_ended") != nullptr && !boolean_at(summary, "input_ended");
  std::string out = fmt::format(
      "  requests {}{}: {} answered, {} failed", with_commas(integer_at(counts, "requests")),
      is_more_unread ? " and those not read yet" : "", with_commas(integer_at(counts, "results")),
      with_commas(integer_at(counts, "errors")));
  if (n_unanswered > 0) out += fmt::format(", {} not yet answered", with_commas(n_unanswered));
  const Json* this_run = counts.find("this_run");
  const i64 n_before = this_run == nullptr ? 0 : integer_at(*this_run, "done_before");
  if (n_before > 0) out += fmt::format(" ({} of them by earlier runs)", with_commas(n_before));
  return out + "\n";
}

std::string rates_text(const Json& summary, const Json& rates) {
  return fmt::format("  rate     {} req/min, in {} out {} tok/s ({} tokens in, {} out)\n",
                     with_commas(std::llround(60.0 * number_at(rates, "requests_per_second"))),
                     short_number(number_at(rates, "prompt_tokens_per_second")),
                     short_number(number_at(rates, "completion_tokens_per_second")),
                     with_commas(integer_at(summary, "prompt_tokens")),
                     with_commas(integer_at(summary, "completion_tokens")));
}

}  // namespace

std::string utc_text(i64 unix_seconds) {
  const std::time_t time = unix_seconds;
  std::tm utc{};
  gmtime_r(&time, &utc);
  std::array<char, 32> text{};
  const std::size_t n = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text.data(), n};
}

Json summary_json(const coordinator::RunOutcome& outcome,
                  const RunFacts& facts,
                  const config::Loaded& loaded) {
  return summary_of(coordinator::name_of(outcome.ending), outcome, facts, loaded);
}

Json failed_summary(const coordinator::RunOutcome& outcome,
                    const RunFacts& facts,
                    const config::Loaded& loaded) {
  return summary_of(kFailed, outcome, facts, loaded);
}

std::string summary_text(const Json& summary,
                         const std::string& run_dir,
                         const std::string& why_not_written) {
  std::string out = headline(summary) + "\n";
  const i64 exit_code = integer_at(summary, "exit_code");
  const Json* counts = summary.find("counts");
  const Json* rates = summary.find("rates");
  const bool has_worked = text_at(summary, "ending") != kFailed;
  if (counts != nullptr && (has_worked || integer_at(*counts, "requests") > 0))
    out += counts_text(summary, *counts);
  if (rates != nullptr && has_worked) out += rates_text(summary, *rates) + workers_text(summary);
  out += losses_text(summary);
  if (counts == nullptr || has_worked || integer_at(*counts, "results") > 0)
    out += fmt::format("  results  {}/results.jsonl\n", run_dir);
  if (counts != nullptr && integer_at(*counts, "errors") > 0)
    out += fmt::format("  errors   {}/errors.jsonl\n", run_dir);
  if (why_not_written.empty())
    out += fmt::format("  summary  {}/summary.json (exit code {})\n", run_dir, exit_code);
  else
    out += fmt::format("  summary  could not be written (exit code {}): {}\n", exit_code,
                       why_not_written);
  if (exit_code == 4) out += fmt::format("  go on    {}\n", resume_line(run_dir));
  return out;
}

}  // namespace sticky::cli
