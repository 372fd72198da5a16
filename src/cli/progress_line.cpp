#include "progress_line.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "json_fields.hpp"

namespace sticky::cli {
namespace {

constexpr double kWindowSeconds = 60.0;

// From the share of the input's bytes that is read, where that is known and the end is not reached.
i64 estimated_total(const Json& status, i64 n_read) {
  const auto read = static_cast<double>(integer_at(status, "input_bytes_read"));
  const auto total = static_cast<double>(integer_at(status, "input_bytes_total"));
  if (read <= 0.0 || total <= read) return n_read;
  return std::llround(static_cast<double>(n_read) * total / read);
}

void count_workers(const Json& status, ProgressView& view) {
  for (const Json& worker : array_at(status, "workers")) {
    const std::string state = text_at(worker, "state");
    view.n_ready += state == "ready" || state == "leaving" ? 1 : 0;
    view.n_joining += state == "joining" || state == "loading" ? 1 : 0;
  }
  if (const Json* resize = status.find("resize")) view.n_joining += integer_at(*resize, "joining");
}

std::string eta(const ProgressView& view, const Rates& rates) {
  const i64 n_left = view.n_total - view.n_done;
  if (n_left <= 0 || rates.requests <= 0.0) return "";
  const auto minutes =
      std::max<i64>(1, std::llround(static_cast<double>(n_left) / rates.requests / 60.0));
  return fmt::format("  ETA {:02}:{:02}", minutes / 60, minutes % 60);
}

}  // namespace

std::optional<ProgressView> view_of(const Json& status) {
  const Json* counts = status.find("counts");
  if (counts == nullptr || !counts->is_object()) return std::nullopt;
  ProgressView view;
  view.phase = text_at(status, "phase");
  view.seconds = number_at(status, "seconds");
  view.n_failed = integer_at(*counts, "errors");
  view.n_new = integer_at(*counts, "results") + view.n_failed;
  view.n_done = integer_at(*counts, "done_before") + view.n_new;
  view.is_total_known = boolean_at(status, "input_ended");
  const i64 n_read = integer_at(*counts, "read");
  view.n_total = view.is_total_known ? n_read : estimated_total(status, n_read);
  view.prompt_tokens = integer_at(status, "prompt_tokens");
  view.completion_tokens = integer_at(status, "completion_tokens");
  count_workers(status, view);
  return view;
}

Rates RateMeter::update(const ProgressView& view) {
  if (!recent_.empty() && view.seconds < recent_.back().seconds) recent_.clear();  // another run
  if (recent_.empty() || view.seconds > recent_.back().seconds) recent_.push_back(view);
  while (recent_.size() > 2 && recent_[1].seconds <= view.seconds - kWindowSeconds)
    recent_.pop_front();
  const ProgressView& oldest = recent_.front();
  const double span = view.seconds - oldest.seconds;
  if (span <= 0.0) return {};
  const auto rate = [&](i64 now, i64 then) { return static_cast<double>(now - then) / span; };
  return {.requests = rate(view.n_new, oldest.n_new),
          .prompt_tokens = rate(view.prompt_tokens, oldest.prompt_tokens),
          .completion_tokens = rate(view.completion_tokens, oldest.completion_tokens)};
}

std::string progress_line(const ProgressView& view, const Rates& rates) {
  const double share = view.n_total > 0 ? 100.0 * static_cast<double>(view.n_done) /
                                              static_cast<double>(view.n_total)
                                        : 0.0;
  std::string line = fmt::format(
      "[{}] {}/{}{} ({:.1f} %)  {} req/min  in {} out {} tok/s  failed {}",
      clock_time(view.seconds), with_commas(view.n_done), view.is_total_known ? "" : "~",
      with_commas(view.n_total), std::min(share, 100.0),
      with_commas(std::llround(rates.requests * 60.0)), short_number(rates.prompt_tokens),
      short_number(rates.completion_tokens), with_commas(view.n_failed));
  if (view.phase == "ended") return line;  // all have gone
  line += fmt::format("  workers {}", view.n_ready);
  if (view.n_joining > 0) line += fmt::format(" (+{} joining)", view.n_joining);
  if (view.phase == "draining") line += "  draining";
  return line + eta(view, rates);
}

std::string with_commas(i64 n) {
  constexpr std::size_t kGroup = 3;
  const std::string digits = fmt::format("{}", n < 0 ? -n : n);
  std::string out = n < 0 ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % kGroup == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string short_number(double value) {
  if (value < 999.5) return fmt::format("{:.0f}", value);
  if (value < 999.95e3) return fmt::format("{:.1f}k", value / 1e3);
  return fmt::format("{:.1f}M", value / 1e6);
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<i64>(seconds);
  return fmt::format("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace sticky::cli
