#pragma once

#include <chrono>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sticky/malleability/resize_policy.hpp"

namespace sticky::malleability {

using State = Situation::State;

// A situation that a test bends: much to do, spawning possible, all workers ready on "here".
class ResizePolicyTest : public testing::Test {
 protected:
  ResizePolicyTest() {
    now_.here = "here";
    now_.can_spawn = true;
    now_.n_waiting = 1'000'000;
    now_.request_seconds = 1.0;
    now_.load_seconds = 10.0;
  }

  void add(i64 id, const std::string& host = "here", State state = State::ready, i64 n_held = 0) {
    now_.workers.push_back({.id = {id}, .host = host, .state = state, .n_held = n_held});
  }
  void lose(i64 id) {
    std::erase_if(now_.workers, [&](const auto& worker) { return worker.id.value == id; });
  }
  void fail(const std::string& host, const std::string& reason = "no such model") {
    now_.failures.push_back({.host = host, .reason = reason});
  }

  // One second later; a test adds what came of the decision itself.
  Decision decide(ResizePolicy& policy, std::vector<Order> orders = {}) {
    std::vector<Ordered> ordered;
    for (Order& order : orders)
      ordered.push_back({.id = "id" + std::to_string(ordered.size()), .order = std::move(order)});
    Decision decision = policy.decide(now_, ordered);
    now_.failures.clear();
    now_.now += std::chrono::seconds(1);
    return decision;
  }
  // The same list for so long that it counts.
  Decision settle(ResizePolicy& policy) {
    Decision last;
    for (Duration age{}; age <= ResizePolicy::kSettle; age += std::chrono::seconds(1))
      last = decide(policy);
    return last;
  }

  Situation now_;
};

inline std::vector<WorkerId> ids(std::initializer_list<i64> values) {
  std::vector<WorkerId> ids;
  for (const i64 value : values)
    ids.push_back({value});
  return ids;
}

}  // namespace sticky::malleability
