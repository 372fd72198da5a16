#include "sticky/coordinator/progress.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace sticky::coordinator {

namespace {

Json or_null(const std::optional<double>& seconds) {
  return seconds ? Json(*seconds) : Json();
}

}  // namespace

i64 n_unread(const Counts& counts, i64 bytes_read, i64 bytes_total) {
  if (bytes_read <= 0 || bytes_total <= bytes_read) return 0;
  const double part = static_cast<double>(bytes_total) / static_cast<double>(bytes_read);
  const i64 n_lines = static_cast<i64>(part * static_cast<double>(counts.n_read));
  const i64 n_done_later = counts.n_results_before + counts.n_errors_before - counts.n_done_before;
  return std::max<i64>(n_lines - counts.n_read - std::max<i64>(n_done_later, 0), 0);
}

Json to_json(const Counts& counts) {
  return Json::object({{"read", counts.n_read},
                       {"done_before", counts.n_done_before},
                       {"results_before", counts.n_results_before},
                       {"errors_before", counts.n_errors_before},
                       {"results", counts.n_results},
                       {"errors", counts.n_errors},
                       {"waiting", counts.n_waiting},
                       {"held", counts.n_held},
                       {"quarantined", counts.n_quarantined}});
}

Json to_json(const WorkerStatus& worker) {
  return Json::object({{"worker", worker.worker.value},
                       {"state", worker.state},
                       {"host", worker.host},
                       {"pid", worker.pid},
                       {"description", worker.description},
                       {"arithmetic", worker.arithmetic},
                       {"slots", worker.slots},
                       {"held", worker.n_held},
                       {"results", worker.n_results},
                       {"errors", worker.n_errors},
                       {"prompt_tokens", worker.prompt_tokens},
                       {"completion_tokens", worker.completion_tokens},
                       {"load_seconds", worker.load_seconds},
                       {"joined_seconds", worker.joined_seconds},
                       {"ready_seconds", or_null(worker.ready_seconds)},
                       {"gone_seconds", or_null(worker.gone_seconds)}});
}

Json to_json(const Loss& loss) {
  return Json::object({{"worker", loss.worker.value < 0 ? Json() : Json(loss.worker.value)},
                       {"cause", loss.cause},
                       {"reason", loss.reason},
                       {"at_seconds", loss.at_seconds},
                       {"returned", loss.n_returned}});
}

std::string name_of(const Loss& loss) {
  return loss.worker.value < 0 ? "a newcomer" : fmt::format("worker {}", loss.worker.value);
}

namespace {

bool is_gone(const WorkerStatus& worker) {
  return worker.state == "left" || worker.state == "lost";
}

// By the time when they went: a worker of the launch may go after many that came later.
std::set<WorkerId> gone_before_the_last(const Progress& progress, i64 n_last) {
  std::vector<std::pair<double, WorkerId>> gone;
  for (const WorkerStatus& worker : progress.workers)
    if (is_gone(worker)) gone.emplace_back(worker.gone_seconds.value_or(0.0), worker.worker);
  std::ranges::sort(gone);
  const i64 n_before = std::max<i64>(std::ssize(gone) - n_last, 0);
  std::set<WorkerId> ids;
  for (const auto& [seconds, worker] : std::span(gone).first(static_cast<std::size_t>(n_before)))
    ids.insert(worker);
  return ids;
}

// Over the run so far.
Json rates_of(const Progress& progress) {
  const auto per_second = [&](i64 n) {
    return progress.seconds > 0.0 ? static_cast<double>(n) / progress.seconds : 0.0;
  };
  constexpr double kSecondsPerMinute = 60.0;
  const i64 n_requests = progress.counts.n_results + progress.counts.n_errors;
  return Json::object({{"requests_per_minute", kSecondsPerMinute * per_second(n_requests)},
                       {"prompt_tokens_per_second", per_second(progress.prompt_tokens)},
                       {"completion_tokens_per_second", per_second(progress.completion_tokens)}});
}

}  // namespace

void set_workers(Json& json, const Progress& progress, i64 most_gone) {
  Json workers = Json::array(), losses = Json::array();
  const std::set<WorkerId> left_out = gone_before_the_last(progress, most_gone);
  for (const WorkerStatus& worker : progress.workers)
    if (!left_out.contains(worker.worker)) workers.push_back(to_json(worker));
  const i64 n_losses_left_out = std::max<i64>(std::ssize(progress.losses) - most_gone, 0);
  for (auto loss = progress.losses.begin() + n_losses_left_out; loss != progress.losses.end();
       ++loss)
    losses.push_back(to_json(*loss));
  json.set("workers", std::move(workers));
  json.set("workers_left_out", std::ssize(left_out));
  json.set("losses", std::move(losses));
  json.set("losses_left_out", n_losses_left_out);
}

Json to_json(const Progress& progress) {
  Json json = Json::object({{"phase", progress.phase},
                            {"seconds", progress.seconds},
                            {"counts", to_json(progress.counts)},
                            {"input_ended", progress.has_input_ended},
                            {"input_bytes_read", progress.input_bytes_read},
                            {"input_bytes_total", progress.input_bytes_total},
                            {"prompt_tokens", progress.prompt_tokens},
                            {"completion_tokens", progress.completion_tokens},
                            {"rates", rates_of(progress)}});
  set_workers(json, progress, kMostGoneInStatus);
  json.set("resize", malleability::to_json(progress.resize));
  return json;
}

}  // namespace sticky::coordinator
