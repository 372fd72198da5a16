#include "sticky/coordinator/workforce.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "sticky/base/log.hpp"

namespace sticky::coordinator {

namespace {

using namespace std::chrono_literals;
using malleability::host_key;
using malleability::Situation;

// A lost process that was killed is gone at once; one on a host that is out of reach may never be
// known to be.
constexpr Duration kGhostTime = 5s;
// MPI's own processes learn of an end later than the kernel: measured, spawns that begin 20 ms
// after an end do not hang.
constexpr Duration kQuietTime = 100ms;

malleability::Limits with_initial(malleability::Limits limits, i64 n_initial) {
  limits.initial = std::max<i64>(n_initial, 1);
  return limits;
}

}  // namespace

Workforce::Workforce(Doors doors, i64 n_initial)
    : doors_(std::move(doors)),
      policy_(with_initial(doors_.limits, n_initial)) {
  status_.target = policy_.target();
  status_.can_spawn = can_spawn();
  if (doors_.spawner != nullptr)
    status_.why_not = doors_.spawner->why_not();
  else
    status_.why_not = "the coordinator and its worker are one process";
}

bool Workforce::can_spawn() const {
  return doors_.spawner != nullptr && doors_.spawner->why_not().empty();
}

// Nobody was ever ready, and not for want of luck: what could not be loaded is not tried again.
bool Workforce::is_state_bad() const {
  return n_loads_ == 0 && n_failed_to_load_ > 0 && n_lost_otherwise_ == 0;
}

// "" is this host; a Hello says how a host calls itself.
std::string Workforce::known_name(const std::string& host) const {
  std::string key = host_key(host.empty() ? doors_.here : host);
  const auto real = real_names_.find(key);
  return real == real_names_.end() ? key : real->second;
}

void Workforce::add_initial(WorkerId worker, TimePoint now) {
  Seat seat{.host = doors_.here, .asked_host = {}, .since = now, .gone = {}};
  seat.place = static_cast<i64>(seats_.size());
  seats_.emplace(worker.value, std::move(seat));
}

Workforce::News Workforce::news(TimePoint now) {
  News news;
  if (doors_.spawner == nullptr) return news;
  for (protocol::Spawned& spawned : doors_.spawner->ended()) {
    std::erase(under_way_, spawned.order);
    if (!spawned.failure.empty()) {
      failures_.push_back({spawned.order.host, spawned.failure});
      news.failures.push_back(std::move(spawned.failure));
      continue;
    }
    has_spawned_ = true;
    seats_.emplace(spawned.peer.value, Seat{.host = known_name(spawned.order.host),
                                            .asked_host = host_key(spawned.order.host),
                                            .place = spawned.order.place,
                                            .since = now,
                                            .gone = {}});
    news.newcomers.push_back({spawned.peer.value});
  }
  status_.n_joining = static_cast<i64>(under_way_.size());
  return news;
}

// Ranks of the launch stand in order on each host.
void Workforce::note_host(WorkerId worker, const std::string& host) {
  const auto found = seats_.find(worker.value);
  if (found == seats_.end()) return;
  Seat& seat = found->second;
  // A host that was asked for by an address or an alias.
  if (!seat.asked_host.empty() && seat.asked_host != host_key(host))
    real_names_.emplace(seat.asked_host, host_key(host));
  const bool is_known = host_key(seat.host) == host_key(host);
  seat.host = host;
  if (is_known) return;
  seat.place = std::ranges::count_if(seats_, [&](const auto& entry) {
    return entry.first < worker.value && host_key(entry.second.host) == host_key(host);
  });
}

void Workforce::note_ready(WorkerId worker, TimePoint now) {
  const auto found = seats_.find(worker.value);
  if (found == seats_.end() || std::exchange(found->second.was_ready, true)) return;
  load_seconds_ += std::chrono::duration<double>(now - found->second.since).count();
  ++n_loads_;
}

void Workforce::note_gone(WorkerId worker, Fate fate, const std::string& reason, TimePoint now) {
  if (fate == Fate::failed_to_load) ++n_failed_to_load_;
  if (fate == Fate::lost) ++n_lost_otherwise_;
  will_grow_ = true;  // until the policy has been asked
  const auto found = seats_.find(worker.value);
  if (found == seats_.end()) return;
  Seat& seat = found->second;
  if (fate != Fate::left && !seat.was_ready) failures_.push_back({seat.host, reason});
  seat.gone = now;
}

void Workforce::note_ended(WorkerId worker, TimePoint now) {
  last_end_ = now;
  seats_.erase(worker.value);
  if (doors_.spawner != nullptr) doors_.spawner->free_slot_of({worker.value});
}

// Whether no process is about to end, or has ended just now.
bool Workforce::is_quiet(TimePoint now) {
  std::erase_if(seats_, [&](const auto& entry) {
    return entry.second.gone && now - *entry.second.gone > kGhostTime;
  });
  const bool is_anyone_ending =
      std::ranges::any_of(seats_, [](const auto& entry) { return entry.second.gone.has_value(); });
  return !is_anyone_ending && now - last_end_ >= kQuietTime;
}

std::vector<WorkerId> Workforce::decide(Situation situation) {
  if (!is_quiet(situation.now)) return {};
  complete(situation);
  const auto orders =
      doors_.take_orders ? doors_.take_orders() : std::vector<malleability::Ordered>();
  malleability::Decision decision = policy_.decide(situation, orders);
  will_grow_ = decision.will_grow || !decision.grow.empty();
  for (const std::string& host : decision.grow)
    start(host);
  publish(decision);
  return std::move(decision.drain);
}

// What the coordinator does not know.
void Workforce::complete(Situation& situation) {
  for (Situation::Worker& worker : situation.workers) {
    const auto found = seats_.find(worker.id.value);
    worker.host = found != seats_.end() ? found->second.host : doors_.here;
  }
  for (const protocol::SpawnOrder& order : under_way_)
    situation.spawning.push_back(order.host);
  situation.failures = std::exchange(failures_, {});
  situation.here = doors_.here;
  situation.real_names = real_names_;
  situation.can_spawn = can_spawn() && !is_state_bad();
  if (doors_.spawner != nullptr) {
    status_.why_not = doors_.spawner->why_not();
    const i64 n_free = doors_.spawner->n_free_slots();
    situation.n_free_here = n_free < 0 ? malleability::kNoLimit : n_free;
  }
  situation.why_not = status_.why_not;
  if (n_loads_ > 0) situation.load_seconds = load_seconds_ / static_cast<double>(n_loads_);
  if (doors_.idle_hosts) situation.idle = doors_.idle_hosts();
}

void Workforce::publish(malleability::Decision& decision) {
  for (malleability::Verdict& verdict : decision.verdicts)
    answer(std::move(verdict));
  if (!decision.why.empty() && decision.why != status_.doing)
    log::info("workers: {}", decision.why);
  status_.target = policy_.target();
  status_.can_spawn = can_spawn();
  status_.n_joining = static_cast<i64>(under_way_.size());
  status_.doing = std::move(decision.why);
}

void Workforce::answer(malleability::Verdict verdict) {
  log::info("order {}: {}: {}", verdict.text, verdict.is_accepted ? "accepted" : "refused",
            verdict.reason);
  status_.add(std::move(verdict));
}

void Workforce::refuse_orders(const std::string& why) {
  if (!doors_.take_orders) return;
  for (const malleability::Ordered& ordered : doors_.take_orders())
    answer({.id = ordered.id, .text = text_of(ordered.order), .reason = why});
}

// The newcomer takes the first place that nobody on its host has.
void Workforce::start(const std::string& host) {
  std::set<i64> taken;
  for (const auto& [worker, seat] : seats_)
    if (host_key(seat.host) == known_name(host)) taken.insert(seat.place);
  for (const protocol::SpawnOrder& order : under_way_)
    if (known_name(order.host) == known_name(host)) taken.insert(order.place);
  i64 place = 0;
  while (taken.contains(place))
    ++place;
  const bool is_here = known_name(host) == host_key(doors_.here);
  const i64 n_workers = std::max<i64>(place + 1, static_cast<i64>(taken.size()) + 1);
  under_way_.push_back({.host = is_here ? "" : host,
                        .n_slots = is_here ? 0 : std::max(n_workers, policy_.slots_of(host)),
                        .place = place,
                        .n_workers = n_workers});
  doors_.spawner->start(under_way_.back());
}

// While anybody lives the answer is for the moment when nobody does: what the policy makes of that
// is known only afterwards.
bool Workforce::is_help_expected() const {
  if (is_anyone_under_way()) return true;
  if (!can_spawn()) return false;
  const bool is_anyone_here =
      std::ranges::any_of(seats_, [](const auto& entry) { return !entry.second.gone; });
  return is_anyone_here || (will_grow_ && !is_state_bad());
}

}  // namespace sticky::coordinator
