#pragma once

#include <deque>
#include <string>

#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"
#include "sticky/malleability/orders.hpp"

namespace sticky::malleability {

/// What became of an order.
struct Verdict {
  std::string id = {};    ///< as write_order() gave it
  std::string text = {};  ///< the order as it is typed
  bool is_accepted = false;
  std::string reason;  ///< a sentence: why it was refused, or what now happens
  bool operator==(const Verdict&) const = default;
};

/// What status.json tells under "resize", and `stickyinvoc resize` and `status` read:
///   "resize": {"target": 4, "joining": 2, "can_spawn": true, "why_not": "", "doing": "…",
///              "orders": [{"id": "…", "order": "--workers 4", "accepted": true, "reason": "…"}]}
struct ResizeStatus {
  i64 target = 0;     ///< workers that the run wants to have
  i64 n_joining = 0;  ///< spawns under way that are no line of "workers" yet
  bool can_spawn = false;
  std::string why_not;         ///< a sentence when this run cannot spawn
  std::string doing;           ///< Decision::why: what the run does about its number, and why
  std::deque<Verdict> orders;  ///< the last ones, newest last

  static constexpr std::size_t kOrders = 256;  ///< all that OrderBox::take() gives at a time
  void add(Verdict verdict);                   ///< keeps the last kOrders
};
[[nodiscard]] Json to_json(const ResizeStatus& status);

}  // namespace sticky::malleability
