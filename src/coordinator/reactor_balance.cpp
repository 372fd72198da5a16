// Unlike workers: what is a fair share, and what happens when nothing waits any more but some hold
// much and others nothing.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "sticky/coordinator/reactor.hpp"

namespace sticky::coordinator {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A worker that will be idle so soon is as good as idle: about the time that moving work takes.
constexpr double kSoonSeconds = 0.2;
// Work is moved only from workers that need so much longer than all together would.
constexpr double kMuchLonger = 1.5;
constexpr double kMuchLongerSeconds = 0.5;
// Between two times of asking one worker.
constexpr Duration kAskAgain = seconds(1);
// Nothing younger is ever copied, however quick the others were.
constexpr Duration kYoung = seconds(1);
constexpr double kMuchLongerThanMost = 2.0;

}  // namespace

double Reactor::weight_of(const Worker& worker) const {
  const double slots = static_cast<double>(worker.slots);
  return is_any_rate_known_ ? worker.pace.expected(weight_of_slot_ * slots, worker.n_held(), now_)
                            : slots;
}

// Anew from time to time: rates change, and sums of floating-point numbers drift.
void Reactor::weigh() {
  double rate = 0.0, slots = 0.0;
  for (const Worker& worker : workers_) {
    if (!worker.is_open || !worker.pace.is_known()) continue;
    rate += worker.pace.rate();
    slots += static_cast<double>(worker.slots);
  }
  is_any_rate_known_ = rate > 0.0;
  weight_of_slot_ = is_any_rate_known_ ? rate / slots : 1.0;
  weight_ = 0.0;
  for (Worker& worker : workers_) {
    if (!worker.is_open) continue;
    worker.weight = weight_of(worker);
    weight_ += worker.weight;
  }
  for (const WorkerId id : std::exchange(at_share_, {})) {
    if (at(id).is_open) open(id);
  }
}

// Its part of what workers of that weight together have in reach. Rounded up, so that nobody idles
// beside work and all of it is given out.
i64 Reactor::share_of(const Worker& worker, i64 n_in_reach, double weight) {
  constexpr double kRoundoff = 1e-9;
  const double part = worker.weight < weight ? worker.weight / weight : 1.0;
  const double share = std::ceil(static_cast<double>(n_in_reach) * part - kRoundoff);
  return std::max<i64>(1, static_cast<i64>(share));
}

void Reactor::balance(Actions& out) {
  if (phase_ != Phase::running || is_journal_pressed_ || n_waiting() > 0 || n_free_ == 0) return;
  if (is_any_rate_known_) take_back_excess(out);
  if (has_input_ended_) copy_stragglers(out);
}

void Reactor::take_back_excess(Actions& out) {
  const i64 n_in_reach = n_slots_ - n_free_;
  const double fair_seconds = static_cast<double>(n_in_reach) / weight_;
  i64 n_wanted = 0;
  for (const Worker& worker : workers_) {
    if (!worker.is_open || static_cast<double>(worker.n_held()) > kSoonSeconds * worker.weight)
      continue;
    const i64 n_short = share_of(worker, n_in_reach, weight_) - worker.n_held();
    n_wanted += std::clamp<i64>(n_short, 0, worker.n_free());
  }
  for (i64 id = 0; id < static_cast<i64>(workers_.size()) && n_wanted > 0; ++id) {
    const Worker& worker = at({id});
    if (!worker.is_open || worker.is_asked_back || now_ - worker.asked_back < kAskAgain) continue;
    const double needs_seconds = static_cast<double>(worker.n_held()) / worker.weight;
    if (needs_seconds < std::max(kMuchLonger * fair_seconds, fair_seconds + kMuchLongerSeconds))
      continue;
    const i64 n = std::min(n_wanted, worker.n_held() - share_of(worker, n_in_reach, weight_));
    if (n > 0) n_wanted -= take_back({id}, n, out);
  }
}

// What came last is the likeliest not to have started. Gives how many it names.
i64 Reactor::take_back(WorkerId id, i64 n, Actions& out) {
  Worker& worker = at(id);
  std::vector<Held> held = worker.held;
  std::erase_if(held, [&](const Held& one) { return invocations_.find(one.id)->was_copied; });
  std::ranges::sort(held, std::greater{},
                    [](const Held& one) { return std::pair(one.since, one.id); });
  SendTakeBack action{id, {}};
  for (const Held& one : held) {
    if (static_cast<i64>(action.ids.size()) < n) action.ids.push_back(one.id);
  }
  const i64 n_named = static_cast<i64>(action.ids.size());
  if (n_named == 0) return 0;
  worker.is_asked_back = true;
  worker.asked_back = now_;
  out.emplace_back(std::move(action));
  return n_named;
}

// What has run for much longer than most, oldest first. What its worker has just been asked to give
// back may come without a copy.
std::vector<Reactor::Straggler> Reactor::stragglers() const {
  const Duration limit = std::max(
      kYoung, std::chrono::duration_cast<Duration>(
                  std::chrono::duration<double>(kMuchLongerThanMost * turnaround_seconds_)));
  std::vector<Straggler> out;
  for (const Worker& worker : workers_) {
    if (!worker.is_open) continue;
    if (worker.is_asked_back && now_ - worker.asked_back < kAskAgain) continue;
    for (const Held& one : worker.held) {
      const Invocation& invocation = *invocations_.find(one.id);
      if (now_ - one.since > limit && invocation.n_deaths == 0 && !invocation.was_copied)
        out.push_back({one.id, one.since, &worker.arithmetic});
    }
  }
  std::ranges::sort(out, {}, [](const Straggler& one) { return std::pair(one.since, one.id); });
  return out;
}

// Each to an idle worker in turn, the quickest first.
void Reactor::copy_stragglers(Actions& out) {
  std::map<std::string_view, std::deque<WorkerId>> idle;
  for (i64 id = 0; id < static_cast<i64>(workers_.size()); ++id) {
    if (const Worker& worker = at({id}); worker.is_open && worker.n_free() == worker.slots)
      idle[worker.arithmetic].push_back({id});
  }
  if (idle.empty()) return;
  for (auto& [arithmetic, ids] : idle)
    std::ranges::stable_sort(ids, std::greater{}, [&](WorkerId id) { return at(id).weight; });

  std::map<WorkerId, SendWork> work;
  for (const Straggler& straggler : stragglers()) {
    const auto able = idle.find(*straggler.arithmetic);
    if (able == idle.end() || able->second.empty()) continue;
    const WorkerId to = able->second.front();
    able->second.pop_front();
    Invocation& invocation = *invocations_.find(straggler.id);
    invocation.is_copied = invocation.was_copied = true;
    copies_[straggler.id] = {static_cast<i32>(to.value), seat(straggler.id, at(to))};
    work[to].worker = to;
    work[to].invocations.push_back({straggler.id, 1 + invocation.n_deaths});
    if (at(to).n_free() > 0) able->second.push_back(to);
  }
  for (auto& [to, action] : work)
    out.emplace_back(std::move(action));
}

}  // namespace sticky::coordinator
