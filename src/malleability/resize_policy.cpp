#include "sticky/malleability/resize_policy.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "resize_round.hpp"

namespace sticky::malleability {

namespace {

Duration wait_after(i64 n_failures) {
  if (n_failures >= ResizePolicy::kFailuresOnHost) return ResizePolicy::kRest;
  return ResizePolicy::kFirstWait * (i64{1} << (n_failures - 1));
}

// What is known to wait, spread over the present workers, against the load that another one costs.
bool pays(const Situation& situation, i64 n_active) {
  if (situation.n_waiting == 0) return false;
  if (n_active == 0 || !situation.request_seconds || !situation.load_seconds) return true;
  const auto n_known = static_cast<double>(situation.n_waiting + situation.n_held);
  const double busy_seconds = n_known * *situation.request_seconds / static_cast<double>(n_active);
  return busy_seconds >= ResizePolicy::kPayFactor * *situation.load_seconds;
}

}  // namespace

ResizePolicy::ResizePolicy(const Limits& limits)
    : limits_(limits),
      target_(std::clamp(limits.initial, limits.min_workers, limits.max_workers)) {
  limits_.max_on_host = std::max(limits_.max_on_host, target_);
}

Decision ResizePolicy::decide(const Situation& situation, std::span<const Ordered> orders) {
  learn_names(situation);
  learn_ready(situation);
  learn_failures(situation);
  learn_list(situation);
  Round round(situation);
  for (const Ordered& ordered : orders)
    round.out().verdicts.push_back(judge(ordered, round));
  drain_hosts(round);
  drain_surplus(round);
  see_what_is_owed(round);
  grow(round);
  return std::move(round.out());
}

// ---- what is learnt

ResizePolicy::Place& ResizePolicy::place_of(const std::string& host, const Situation& situation) {
  const std::string key = place_key(host, situation);
  const auto [place, is_new] = places_.try_emplace(key);
  if (is_new) place->second.name = key == host_key(situation.here) ? "" : host;
  return place->second;
}

// What is known of a host under another name belongs to the host.
void ResizePolicy::learn_names(const Situation& situation) {
  for (const auto& [alias, real] : situation.real_names) {
    auto node = places_.extract(alias);
    if (node.empty()) continue;
    const Place& other = node.mapped();
    Place& place = place_of(other.name, situation);
    place.listed_slots += other.listed_slots;
    place.ordered_slots += other.ordered_slots;
    place.was_listed |= other.was_listed;
    place.is_banned |= other.is_banned;
    place.is_owed |= other.is_owed;
    place.n_failures = std::max(place.n_failures, other.n_failures);
    place.not_before = std::max(place.not_before, other.not_before);
    place.seen_slots += other.seen_slots;
    place.seen_since = std::max(place.seen_since, other.seen_since);
  }
}

void ResizePolicy::learn_ready(const Situation& situation) {
  const WorkerId newest_before = newest_ready_;
  for (const auto& worker : situation.workers) {
    if (worker.state != Situation::State::ready || worker.id <= newest_before) continue;
    newest_ready_ = std::max(newest_ready_, worker.id);
    n_failures_ = 0;
    place_of(worker.host, situation).n_failures = 0;
  }
}

void ResizePolicy::learn_failures(const Situation& situation) {
  for (const auto& failure : situation.failures) {
    Place& place = place_of(failure.host, situation);
    ++n_failures_;
    ++place.n_failures;
    place.not_before = situation.now + wait_after(place.n_failures);
    if (n_failures_ >= kFailuresInARow) rest_until_ = situation.now + kRest;
    last_failure_ = failure.reason;
  }
}

void ResizePolicy::learn_list(const Situation& situation) {
  if (!situation.idle) return;
  std::map<std::string, i64> listed;
  for (const Host& host : *situation.idle) {
    (void)place_of(host.name, situation);
    listed[place_key(host.name, situation)] += host.n_slots;
  }
  for (auto& [key, place] : places_) {
    const auto found = listed.find(key);
    const i64 n_slots = found == listed.end() ? 0 : found->second;
    if (n_slots != place.seen_slots) {
      place.seen_slots = n_slots;
      place.seen_since = situation.now;
    }
    const bool is_settled = situation.now - place.seen_since >= kSettle;
    if (!is_settled || place.listed_slots == place.seen_slots) continue;
    place.listed_slots = place.seen_slots;
    place.was_listed = true;
    if (place.listed_slots == 0) place.n_failures = 0;  // it may come back another
  }
}

void ResizePolicy::forgive_failures() {
  n_failures_ = 0;
  for (auto& [key, place] : places_) {
    place.n_failures = 0;
    place.not_before = {};
  }
}

i64 ResizePolicy::slots_of(const std::string& host) const {
  for (const auto& [key, place] : places_)
    if (!place.name.empty() && host_key(place.name) == host_key(host))
      return std::max(place.listed_slots, place.ordered_slots);
  return 0;
}

// ---- who leaves

void ResizePolicy::drain_hosts(Round& round) const {
  for (const auto& [key, place] : places_) {
    const i64 n_here = round.n_present_on(key);
    const i64 n_spare = round.n_present() - limits_.min_workers;
    i64 n_surplus = 0;
    if (place.is_banned)
      n_surplus = n_here;
    else if (place.was_listed)
      n_surplus = std::min(n_here - std::max(place.listed_slots, place.ordered_slots), n_spare);
    if (n_surplus <= 0) continue;
    round.drain(n_surplus, &key);
    round.say(fmt::format(
        "{} to leave {}, which {}", n_workers(n_surplus), key,
        place.is_banned ? "was ordered to be drained" : "is no longer listed for so many"));
  }
}

void ResizePolicy::drain_surplus(Round& round) const {
  const i64 limit = is_by_hand_ ? std::min(target_, limits_.max_workers) : limits_.max_workers;
  if (round.n_present() <= limit) return;
  const i64 n_surplus = round.n_present() - limit;
  round.drain(n_surplus);
  round.say(fmt::format("{} to leave: {} {}", n_workers(n_surplus), limit,
                        is_by_hand_ ? "were ordered" : "is the most (resize.max_workers)"));
}

// ---- who comes

void ResizePolicy::see_what_is_owed(const Round& round) {
  is_owed_ = is_owed_ && round.n_present() < target_;
  for (auto& [key, place] : places_)
    place.is_owed = place.is_owed && round.n_ready_on(key) < place.ordered_slots;
}

// Ordered on other hosts and not there yet: none of these may be started on this one.
i64 ResizePolicy::owed_elsewhere(const std::string& key, const Round& round) const {
  i64 n = 0;
  for (const auto& [other, place] : places_) {
    if (place.is_owed && other != key)
      n += std::max<i64>(place.ordered_slots - round.n_active_on(other), 0);
  }
  return n;
}

i64 ResizePolicy::free_slots_here(const Round& round) const {
  const bool is_bounded = round.n_free_here() == kNoLimit && limits_.max_on_host != kNoLimit;
  return is_bounded ? limits_.max_on_host - round.n_total_on(round.key_of(""))
                    : round.n_free_here();
}

i64 ResizePolicy::free_slots_on(const std::string& key, const Round& round) const {
  const auto found = places_.find(key);
  const bool is_here = key == round.key_of("");
  i64 n_free = is_here ? free_slots_here(round) : 0;
  if (found != places_.end()) {
    const Place& place = found->second;
    const bool has_failed = place.n_failures >= kFailuresOnHost;
    if (place.is_banned || (has_failed && round.is_resting(place.not_before))) return 0;
    const i64 n_slots = std::max(place.listed_slots, place.ordered_slots);
    const i64 n_by_slots = n_slots - round.n_total_on(key);
    if (!is_here)
      n_free = n_by_slots;
    else if (place.was_listed)
      n_free = std::min(round.n_free_here(), n_by_slots);
  }
  return std::max<i64>(n_free, 0);
}

i64 ResizePolicy::free_slots(const Round& round, const std::string* but) const {
  const std::string here = round.key_of("");
  i64 n = but != nullptr && *but == here ? 0 : free_slots_on(here, round);
  for (const auto& [key, place] : places_) {
    if (key == here || (but != nullptr && *but == key)) continue;
    const i64 n_more = free_slots_on(key, round);
    n = n > kNoLimit - n_more ? kNoLimit : n + n_more;
  }
  return n;
}

// Free slots that the list or an order offers beyond the target.
i64 ResizePolicy::offered_slots_on(const std::string& key,
                                   const Place& place,
                                   const Round& round) const {
  const i64 n_slots = std::max(place.listed_slots, place.ordered_slots);
  return std::clamp<i64>(n_slots - round.n_total_on(key), 0, free_slots_on(key, round));
}

// How many more the run should have, whether they can be started just now or not.
i64 ResizePolicy::missing(const Round& round) const {
  i64 n_offered = 0;
  for (const auto& [key, place] : places_)
    n_offered += offered_slots_on(key, place, round);
  const i64 n_lacking = target_ - round.n_active();
  const i64 n_wanted = is_by_hand_ ? n_lacking : std::max(n_lacking, n_offered);
  return std::min(n_wanted, limits_.max_workers - round.n_total());
}

// Those that were added by hand first, then the listed ones, then here.
std::vector<const ResizePolicy::Place*> ResizePolicy::places_with_room(const Round& round) {
  (void)place_of("", round.situation());
  const std::string here = round.key_of("");
  std::vector<std::pair<int, const Place*>> ranked;
  for (const auto& [key, place] : places_) {
    if (free_slots_on(key, round) == 0) continue;
    const bool is_beyond_target = round.n_active() + owed_elsewhere(key, round) >= target_;
    if (is_beyond_target && offered_slots_on(key, place, round) == 0) continue;
    const bool is_added = place.ordered_slots > round.n_total_on(key);
    ranked.emplace_back(is_added ? 0 : key != here ? 1 : 2, &place);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Place*> places;
  for (const auto& [rank, place] : ranked)
    places.push_back(place);
  return places;
}

bool ResizePolicy::is_worth(const Place& place, const Round& round) const {
  const i64 n_active = round.n_active();
  if (!round.has_work()) return false;
  const bool is_ordered = place.is_owed || (is_owed_ && n_active < target_);
  return is_ordered || n_active < limits_.min_workers || pays(round.situation(), n_active);
}

void ResizePolicy::grow(Round& round) {
  const Situation& situation = round.situation();
  const i64 n_wanted = missing(round);
  if (n_wanted <= 0 || !situation.can_spawn) return;
  if (n_failures_ >= kFailuresInARow && round.is_resting(rest_until_)) {
    round.say(fmt::format("{} missing, but {} newcomers in a row came to nothing (the last: {})",
                          n_workers(n_wanted), n_failures_, last_failure_));
    return;
  }
  std::string why_no_more;
  while (missing(round) > 0 && why_no_more.empty())
    why_no_more = grow_by_one(round);
  const auto n_started = static_cast<i64>(round.out().grow.size());
  if (n_started > 0) {
    round.out().will_grow = true;
    round.say(fmt::format("{} of {} missing started", n_started, n_workers(n_wanted)));
  } else if (!why_no_more.empty()) {
    round.say(fmt::format("{} missing: {}", n_workers(n_wanted), why_no_more));
  }
}

// Why none was started; empty when one was.
std::string ResizePolicy::grow_by_one(Round& round) {
  const auto places = places_with_room(round);
  if (places.empty())
    return last_failure_.empty() ? "no host has a free slot"
                                 : fmt::format(
                                       "no host has a free slot that works (the last "
                                       "newcomer failed: {})",
                                       last_failure_);
  if (!is_worth(*places.front(), round)) return "what waits is done before another one has loaded";
  round.out().will_grow = true;
  if (round.n_loading() >= limits_.max_loading)
    return fmt::format("{} are loading already", round.n_loading());
  for (const Place* place : places) {
    if (place->not_before > round.situation().now) continue;
    round.grow(place->name);
    return "";
  }
  return fmt::format("waiting after a failure: {}", last_failure_);
}

}  // namespace sticky::malleability
