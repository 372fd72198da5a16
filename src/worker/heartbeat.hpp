#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "sticky/base/clock.hpp"
#include "sticky/worker/worker_loop.hpp"

namespace sticky::worker {

/// What a heartbeat tells, written by the worker's main thread.
struct Vitals {
  std::atomic<i64> n_steps = 0;
  std::atomic<i64> n_held = 0;
  std::atomic<bool> is_loading = false;
};

/// Sends a Heartbeat each second from a thread of its own, and gives the coordinator up when it has
/// been silent for too long. A gap in this thread's own time (SIGSTOP, a laptop that slept) is not
/// the coordinator's silence.
class Heartbeat {
 public:
  Heartbeat(const Surroundings& around, const Vitals& vitals);

  void set_orphan_timeout(Duration timeout) { orphan_timeout_ = timeout; }

 private:
  void run(const std::stop_token& stop);
  void beat();

  const Surroundings& around_;
  const Vitals& vitals_;
  std::atomic<Duration> orphan_timeout_;
  i64 n_arrived_ = 0;
  Duration silence_{};
  TimePoint last_beat_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: its thread uses all of the above
};

}  // namespace sticky::worker
