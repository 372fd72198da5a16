#pragma once

#include <chrono>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sticky/coordinator/reactor.hpp"

namespace sticky::coordinator {

inline constexpr WorkerId kA{1}, kB{2};

// A reactor with a clock of its own: each call happens at `now`.
class ReactorTest : public testing::Test {
 protected:
  Options options_;
  TimePoint now_{};

  Reactor make() { return {options_, now_}; }
  // Everything comes back as one list: what the event led to, then what was dispatched.
  Actions tell(Reactor& reactor, What what) {
    Actions out = reactor.on(std::move(what), now_);
    for (Action& action : reactor.dispatch(now_))
      out.push_back(std::move(action));
    reactor.check();
    return out;
  }
  // Lets time pass in ticks of 100 ms while those workers beat; gives all actions.
  Actions pass(Reactor& reactor, Duration time, const std::vector<WorkerId>& beating = {}) {
    Actions out;
    for (const TimePoint end = now_ + time; now_ < end;) {
      now_ += std::chrono::milliseconds(100);
      for (const WorkerId worker : beating)
        (void)tell(reactor, HeartbeatArrived{worker, steps_});
      for (Action& action : tell(reactor, Tick{}))
        out.push_back(std::move(action));
    }
    return out;
  }
  void make_ready(Reactor& reactor, WorkerId worker, i64 slots) {
    (void)tell(reactor, WorkerJoined{worker});
    (void)tell(reactor, WorkerReady{worker, slots, arithmetic_});
  }
  i64 steps_ = 0;
  std::string arithmetic_ = "a";
};

inline InputRead lines(i64 first, i64 n) {
  InputRead event;
  for (i64 k = 0; k < n; ++k)
    event.lines.push_back({{first + k}, 100});
  return event;
}

inline protocol::Result answer(i64 id) {
  return {.id = {id}, .is_error = false, .record = fmt::format("answer {}", id)};
}

inline ResultsArrived results(WorkerId worker, std::initializer_list<i64> ids) {
  ResultsArrived event{worker, {}};
  for (const i64 id : ids)
    event.results.push_back(answer(id));
  return event;
}

inline Record record(WorkerId worker, std::initializer_list<i64> ids) {
  return {worker, results(worker, ids).results};
}

inline SendWork work(WorkerId worker, std::initializer_list<i64> ids, i64 attempt = 1) {
  SendWork action{worker, {}};
  for (const i64 id : ids)
    action.invocations.push_back({{id}, attempt});
  return action;
}

}  // namespace sticky::coordinator
