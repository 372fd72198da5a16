// What orders by hand change, and which are refused.
#include <algorithm>

#include <fmt/format.h>

#include "resize_round.hpp"

namespace sticky::malleability {
namespace {

Verdict refuse(std::string reason) {
  return {.is_accepted = false, .reason = std::move(reason)};
}
Verdict accept(std::string reason) {
  return {.is_accepted = true, .reason = std::move(reason)};
}

std::string cannot_spawn(const Situation& situation) {
  return fmt::format("this run cannot start workers: {}",
                     situation.why_not.empty() ? "it does not say why" : situation.why_not);
}

}  // namespace

Verdict ResizePolicy::judge(const Ordered& ordered, Round& round) {
  Verdict verdict =
      std::visit([&](const auto& order) { return obey(order, round); }, ordered.order);
  verdict.id = ordered.id;
  verdict.text = text_of(ordered.order);
  return verdict;
}

// Slots of the launch or of the list say it better.
i64 ResizePolicy::most_on(const std::string& key, const Round& round) const {
  if (key == round.key_of("") && round.n_free_here() != kNoLimit) return kNoLimit;
  const auto place = places_.find(key);
  return std::max(limits_.max_on_host, place == places_.end() ? 0 : place->second.listed_slots);
}

// Workers that are there, on their way, or ordered and still to come.
i64 ResizePolicy::due_on(const std::string& key, const Round& round) const {
  const auto place = places_.find(key);
  const bool is_owed = place != places_.end() && place->second.is_owed;
  return std::max(round.n_active_on(key), is_owed ? place->second.ordered_slots : 0);
}

// A bound that the user has not set.
std::string ResizePolicy::most_on_host() const {
  return fmt::format("at most {} on one host, unless resize.max_workers is set",
                     limits_.max_on_host);
}

Verdict ResizePolicy::obey(const SetWorkers& order, Round& round) {
  const i64 n_more = order.n - round.n_active();
  if (order.n > limits_.max_workers)
    return refuse(fmt::format("at most {} (resize.max_workers)", n_workers(limits_.max_workers)));
  if (order.n < limits_.min_workers)
    return refuse(fmt::format("at least {} (resize.min_workers)", n_workers(limits_.min_workers)));
  if (n_more > 0 && !round.situation().can_spawn) return refuse(cannot_spawn(round.situation()));
  if (n_more > 0) {
    forgive_failures();
    // Those that leave will make room.
    const i64 n_leaving = round.n_total() - round.n_active();
    const i64 n_free = free_slots(round);
    const bool is_bounded = limits_.max_on_host != kNoLimit && round.n_free_here() == kNoLimit;
    if (n_more - n_leaving > n_free)
      return refuse(fmt::format("there is room for {} only{}", n_workers(round.n_active() + n_free),
                                is_bounded ? "; " + most_on_host() : ""));
  }
  target_ = order.n;
  is_by_hand_ = true;
  is_owed_ = n_more > 0;
  for (auto& [key, place] : places_)
    place.is_owed = false;
  if (n_more > 0) return accept(fmt::format("{} to start", n_workers(n_more)));
  if (n_more < 0) return accept(fmt::format("{} to leave", n_workers(-n_more)));
  return accept("the run has that many");
}

Verdict ResizePolicy::obey(const AddHost& order, Round& round) {
  const auto& [name, n_slots] = order.host;
  if (!round.situation().can_spawn) return refuse(cannot_spawn(round.situation()));
  const i64 n_after = round.n_active() + n_slots;
  if (n_after > limits_.max_workers)
    return refuse(fmt::format("that would be {}; at most {} (resize.max_workers)",
                              n_workers(n_after), limits_.max_workers));
  const std::string key = round.key_of(name);
  const bool is_here = key == round.key_of("");
  const i64 n_on_host = due_on(key, round);
  if (n_on_host + n_slots > most_on(key, round))
    return refuse(fmt::format("that would be {} on {}; {}", n_workers(n_on_host + n_slots), name,
                              most_on_host()));
  // Those that leave will make room.
  const i64 n_free = is_here ? free_slots_here(round) : kNoLimit;
  const i64 n_to_come = n_on_host + n_slots - round.n_total_on(key);
  if (n_to_come > n_free)
    return refuse(fmt::format("there is room for {} on {} only",
                              n_workers(round.n_total_on(key) + n_free), name));
  forgive_failures();
  Place& place = place_of(name, round.situation());
  place.is_banned = false;
  place.is_owed = true;
  // What was checked. An earlier order that was fulfilled is no part of this one: its workers may
  // have been sent away since.
  place.ordered_slots = n_on_host + n_slots;
  target_ = std::min(target_ + n_slots, limits_.max_workers);
  return accept(fmt::format("{} to start on {}", n_workers(n_slots), name));
}

Verdict ResizePolicy::obey(const DrainHost& order, Round& round) {
  const std::string key = round.key_of(order.host);
  const i64 n_here = round.n_active_on(key);
  const auto place = places_.find(key);
  const bool is_known =
      place != places_.end() && (place->second.listed_slots > 0 || place->second.ordered_slots > 0);
  if (n_here == 0 && !is_known)
    return refuse(fmt::format("no worker is on {}; workers are on {}", order.host,
                              fmt::join(round.hosts(), ", ")));
  const i64 n_left = round.n_active() - n_here;
  const i64 n_lacking = limits_.min_workers - n_left;
  const bool is_replaceable = round.situation().can_spawn && free_slots(round, &key) >= n_lacking;
  if (n_lacking > 0 && !is_replaceable)
    return refuse(
        fmt::format("that would leave {}, and others cannot be started elsewhere; at least {} "
                    "(resize.min_workers)",
                    n_workers(n_left), limits_.min_workers));
  Place& drained = place_of(order.host, round.situation());
  drained.is_banned = true;
  drained.is_owed = false;
  drained.ordered_slots = 0;
  target_ = std::min(target_, std::max(n_left, limits_.min_workers));
  return accept(fmt::format("{} to leave {}", n_workers(n_here), order.host));
}

}  // namespace sticky::malleability
