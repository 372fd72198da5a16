#include "sticky/coordinator/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sticky::coordinator {

namespace {

i64 microseconds(double seconds) {
  return std::llround(seconds * 1e6);
}

class Timeline {
 public:
  explicit Timeline(const Progress& progress) : progress_(progress) {}

  [[nodiscard]] Json build() {
    for (const WorkerStatus& worker : progress_.workers)
      add(worker);
    add_newcomers_that_failed();
    add_counter();
    return Json::object({{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events_)}});
  }

 private:
  // Processes are told apart by number: that of the coordinator's own events is 0.
  i64 process_of(const std::string& host) {
    const auto [entry, is_new] = hosts_.try_emplace(host, std::ssize(hosts_) + 1);
    if (is_new) name("process_name", entry->second, 0, host.empty() ? "unknown host" : host);
    return entry->second;
  }

  void name(const char* what, i64 process, i64 thread, const std::string& text) {
    events_.push_back(Json::object({{"name", what},
                                    {"ph", "M"},
                                    {"pid", process},
                                    {"tid", thread},
                                    {"args", Json::object({{"name", text}})}}));
  }

  void span(const char* what, const WorkerStatus& worker, double from, double to, Json arguments) {
    events_.push_back(
        Json::object({{"name", what},
                      {"ph", "X"},
                      {"ts", microseconds(from)},
                      {"dur", std::max<i64>(microseconds(to) - microseconds(from), 0)},
                      {"pid", process_of(worker.host)},
                      {"tid", worker.worker.value},
                      {"args", std::move(arguments)}}));
  }

  void instant(const std::string& what, double at, i64 process, i64 thread, Json arguments) {
    events_.push_back(Json::object({{"name", what},
                                    {"ph", "i"},
                                    {"s", "t"},
                                    {"ts", microseconds(at)},
                                    {"pid", process},
                                    {"tid", thread},
                                    {"args", std::move(arguments)}}));
  }

  void add(const WorkerStatus& worker) {
    const i64 process = process_of(worker.host);
    name("thread_name", process, worker.worker.value,
         fmt::format("worker {}", worker.worker.value));
    const double end = worker.gone_seconds.value_or(progress_.seconds);
    const Json none = Json::object({});
    if (worker.ready_seconds) {
      const double loading =
          std::max(*worker.ready_seconds - worker.load_seconds, worker.joined_seconds);
      span("starting", worker, worker.joined_seconds, loading, none);
      span("loading", worker, loading, *worker.ready_seconds, none);
      span("serving", worker, *worker.ready_seconds, end,
           Json::object({{"results", worker.n_results},
                         {"errors", worker.n_errors},
                         {"prompt_tokens", worker.prompt_tokens},
                         {"completion_tokens", worker.completion_tokens}}));
      changes_.emplace_back(*worker.ready_seconds, 1);
      if (worker.gone_seconds) changes_.emplace_back(end, -1);
    } else {
      span("starting", worker, worker.joined_seconds, end, none);
    }
    if (worker.gone_seconds) add_end(worker, process);
  }

  void add_end(const WorkerStatus& worker, i64 process) {
    const auto loss = std::ranges::find(progress_.losses, worker.worker, &Loss::worker);
    if (loss == progress_.losses.end()) {
      instant("left", *worker.gone_seconds, process, worker.worker.value, Json::object({}));
      return;
    }
    instant(fmt::format("lost ({})", loss->cause), *worker.gone_seconds, process,
            worker.worker.value,
            Json::object({{"reason", loss->reason}, {"returned", loss->n_returned}}));
  }

  // They never became anybody.
  void add_newcomers_that_failed() {
    for (const Loss& loss : progress_.losses) {
      if (loss.worker.value >= 0) continue;
      instant(fmt::format("lost ({})", loss.cause), loss.at_seconds, 0, 0,
              Json::object({{"reason", loss.reason}}));
    }
  }

  void add_counter() {
    name("process_name", 0, 0, "coordinator");
    std::ranges::sort(changes_);
    i64 n_ready = 0;
    for (const auto& [at, change] : changes_) {
      n_ready += change;
      events_.push_back(Json::object({{"name", "ready workers"},
                                      {"ph", "C"},
                                      {"ts", microseconds(at)},
                                      {"pid", 0},
                                      {"args", Json::object({{"workers", n_ready}})}}));
    }
  }

  const Progress& progress_;
  Json events_ = Json::array();
  std::map<std::string, i64> hosts_;
  std::vector<std::pair<double, i64>> changes_;  // when, and of how many, the ready ones
};

}  // namespace

Json timeline_json(const Progress& progress) {
  return Timeline(progress).build();
}

}  // namespace sticky::coordinator
