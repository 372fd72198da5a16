#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <thread>

#include "sticky/base/clock.hpp"
#include "sticky/base/types.hpp"

namespace sticky::comm {

/// The ranks of this node, while they start.
struct StartView {
  std::set<pid_t> ranks;  ///< this one's siblings that live and run the same program
  i64 n_children = 0;     ///< living children of the launcher's daemon; -1: unknown
};

/// Judges whether MPI_Init can still come to its end. It meets every rank of the world and waits
/// for a dead one for ever. A sibling that was there and is gone says so within seconds. One that
/// died before it was ever seen: the daemon has fewer children than it has ranks here, and gets no
/// more of them. Of other nodes, or a frozen rank, only the time tells.
class StartJudge {
 public:
  struct Limits {
    Duration whole = std::chrono::minutes(5);    ///< slow file systems start slowly
    Duration gone = std::chrono::seconds(2);     ///< it may be at its end by itself
    Duration unseen = std::chrono::seconds(20);  ///< without any new child
  };
  /// `n_expected`: ranks of this node; 0: unknown.
  explicit StartJudge(i64 n_expected) : n_expected_(n_expected) {}
  StartJudge(i64 n_expected, Limits limits) : n_expected_(n_expected), limits_(limits) {}

  /// Why it is hopeless, as a sentence; nothing while it is not. `elapsed`: since the start, never
  /// less than at the call before.
  [[nodiscard]] std::optional<std::string> judge(Duration elapsed, const StartView& view);

 private:
  i64 n_expected_;
  Limits limits_;
  std::set<pid_t> seen_;
  std::optional<Duration> gone_since_;
  i64 n_children_ = 0;  // the most so far
  Duration last_new_child_{};
};

/// Calls `give_up` from a thread of its own, once, when the start is hopeless; until it is
/// destroyed.
class StartWatch {
 public:
  explicit StartWatch(std::function<void(const std::string& why)> give_up);
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;
  ~StartWatch();

 private:
  void watch();

  std::function<void(const std::string& why)> give_up_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace sticky::comm
