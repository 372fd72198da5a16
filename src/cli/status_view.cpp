#include "status_view.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "sticky/base/counted.hpp"

#include "json_fields.hpp"

namespace sticky::cli {
namespace {

constexpr double kWindowSeconds = 60.0;
constexpr double kSecondsPerMinute = 60.0;
constexpr std::size_t kEvents = 5;  // shown

i64 n_done_of(const Json& worker) {
  return integer_at(worker, "results") + integer_at(worker, "errors");
}

bool is_gone(const Json& worker) {
  const std::string state = text_at(worker, "state");
  return state == "left" || state == "lost";
}

// What a file says must not move the cursor.
std::string printable(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return text;
}

std::string place_of(const Json& worker) {
  const std::string host = printable(text_at(worker, "host"));
  return host.empty() ? "?" : fmt::format("{}:{}", host, integer_at(worker, "pid"));
}

std::vector<std::string> table_of(const Json::Array& workers, const WorkerRates* rates) {
  std::size_t width = std::string_view("host:pid").size();
  for (const Json& worker : workers)
    width = std::max(width, place_of(worker).size());
  const auto line = [&](auto id, auto state, auto place, auto answered, auto failed, auto held,
                        auto rate, auto what) {
    const std::string column = rates == nullptr ? "" : fmt::format("  {:>7}", rate);
    return fmt::format("{:>6}  {:8}  {:{}}  {:>8}  {:>6}  {:>5}{}  {}", id, state, place, width,
                       answered, failed, held, column, what);
  };
  std::vector<std::string> lines{
      line("worker", "state", "host:pid", "answered", "failed", "held", "req/min", "what")};
  for (const Json& worker : workers) {
    const i64 id = integer_at(worker, "worker");
    lines.push_back(line(id, printable(text_at(worker, "state")), place_of(worker),
                         with_commas(integer_at(worker, "results")),
                         with_commas(integer_at(worker, "errors")), integer_at(worker, "held"),
                         with_commas(rates == nullptr ? 0 : std::llround(rates->of(id))),
                         printable(text_at(worker, "description"))));
  }
  return lines;
}

}  // namespace

void WorkerRates::update(const Json& status) {
  const double now = number_at(status, "seconds");
  for (const Json& worker : array_at(status, "workers")) {
    std::deque<Look>& looks = looks_[integer_at(worker, "worker")];
    if (!looks.empty() && now < looks.back().seconds) looks.clear();  // another run
    if (looks.empty() || now > looks.back().seconds) looks.push_back({now, n_done_of(worker)});
    while (looks.size() > 2 && looks[1].seconds <= now - kWindowSeconds)
      looks.pop_front();
  }
}

double WorkerRates::of(i64 worker) const {
  const auto found = looks_.find(worker);
  if (found == looks_.end() || found->second.size() < 2) return 0.0;
  const Look &oldest = found->second.front(), &newest = found->second.back();
  return kSecondsPerMinute * static_cast<double>(newest.n_done - oldest.n_done) /
         (newest.seconds - oldest.seconds);
}

std::vector<std::string> worker_lines(const Json& status) {
  std::vector<std::string> lines = table_of(array_at(status, "workers"), nullptr);
  if (const i64 n = integer_at(status, "workers_left_out"); n > 0)
    lines.push_back(fmt::format("        and {} that {} gone", counted(n, "more worker"),
                                n == 1 ? "is" : "are"));
  return lines;
}

std::vector<std::string> worker_lines(const Json& status, const WorkerRates& rates) {
  Json::Array workers;
  std::ranges::remove_copy_if(array_at(status, "workers"), std::back_inserter(workers), is_gone);
  return table_of(workers, &rates);
}

std::vector<std::string> loss_lines(const Json& status) {
  std::vector<std::string> lines;
  if (const i64 n = integer_at(status, "losses_left_out"); n > 0)
    lines.push_back(fmt::format("lost: {} before these", n));
  for (const Json& loss : array_at(status, "losses"))
    lines.push_back(fmt::format(
        "lost: {} after {}: {}: {} ({} went back)", lost_name_in(loss),
        clock_time(number_at(loss, "at_seconds")), printable(text_at(loss, "cause")),
        printable(text_at(loss, "reason")), counted(integer_at(loss, "returned"), "request")));
  return lines;
}

std::string wish_line(const Json& status) {
  const Json* resize = status.find("resize");
  if (resize == nullptr || !resize->is_object()) return "";
  const i64 n_joining = integer_at(*resize, "joining");
  const std::string doing = printable(text_at(*resize, "doing"));
  if (n_joining == 0 && doing.empty()) return "";
  std::string line = fmt::format("{} wanted", integer_at(*resize, "target"));
  if (n_joining > 0)
    line += fmt::format(", {} on {} way", n_joining, n_joining == 1 ? "its" : "their");
  return doing.empty() ? line : line + "; " + doing;
}

std::vector<std::string> WatchedRun::look(const Json& status) {
  std::vector<std::string> news;
  const auto view = view_of(status);
  if (!view) return news;
  status_ = status;
  progress_ = progress_line(*view, rates_.update(*view));
  worker_rates_.update(status);
  see_workers(view->seconds, news);
  see_losses(news);
  is_first_ = false;
  return news;
}

void WatchedRun::tell(double seconds, const std::string& text, std::vector<std::string>& out) {
  out.push_back(fmt::format("[{}] {}", clock_time(seconds), text));
  events_.push_back(out.back());
  if (events_.size() > kEvents) events_.pop_front();
}

void WatchedRun::see_workers(double now, std::vector<std::string>& out) {
  for (const Json& worker : array_at(status_, "workers")) {
    const i64 id = integer_at(worker, "worker");
    const std::string state = text_at(worker, "state");
    const std::string before = std::exchange(states_[id], state);
    if (is_first_ || state == before) continue;
    if (state == "loading")
      tell(now, fmt::format("worker {} joins: {}", id, place_of(worker)), out);
    else if (state == "ready" || state == "leaving" || state == "left")
      tell(now,
           fmt::format("worker {} {}", id,
                       state == "ready"     ? "is ready"
                       : state == "leaving" ? "is told to leave"
                                            : "has left"),
           out);
  }
}

void WatchedRun::see_losses(std::vector<std::string>& out) {
  const Json::Array& losses = array_at(status_, "losses");
  const i64 n_left_out = std::max<i64>(integer_at(status_, "losses_left_out"), 0);
  n_losses_ = std::max(n_losses_, n_left_out);
  for (; n_losses_ - n_left_out < std::ssize(losses); ++n_losses_) {
    const Json& loss = losses[static_cast<std::size_t>(n_losses_ - n_left_out)];
    tell(number_at(loss, "at_seconds"),
         fmt::format("{} is lost: {}: {} ({} went back)", lost_name_in(loss),
                     printable(text_at(loss, "cause")), printable(text_at(loss, "reason")),
                     counted(integer_at(loss, "returned"), "request")),
         out);
  }
}

std::vector<std::string> WatchedRun::picture(i64 n_lines) const {
  std::vector<std::string> lines{progress_};
  if (const std::string line = wish_line(status_); !line.empty()) lines.push_back(line);
  std::vector<std::string> workers = worker_lines(status_, worker_rates_);
  const i64 n_room = n_lines - static_cast<i64>(lines.size() + events_.size());
  if (const auto n = static_cast<i64>(workers.size()); n > n_room) {
    const i64 n_kept = std::max<i64>(n_room - 1, 1);
    workers.resize(static_cast<std::size_t>(n_kept));
    workers.push_back(fmt::format("        … and {}", counted(n - n_kept, "more worker")));
  }
  lines.insert(lines.end(), workers.begin(), workers.end());
  lines.insert(lines.end(), events_.begin(), events_.end());
  return lines;
}

}  // namespace sticky::cli
