#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "sticky/base/clock.hpp"

namespace sticky::coordinator {

/// Calls `work` at once and then every `interval`, on a thread of its own, until it is destroyed.
/// A call that runs is waited for.
class Periodic {
 public:
  Periodic(Duration interval, std::function<void()> work)
      : thread_([this, interval, work = std::move(work)](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          while (!stop.stop_requested()) {
            lock.unlock();
            work();
            lock.lock();
            changed_.wait_for(lock, stop, interval, [] { return false; });
          }
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: ends before what it uses
};

}  // namespace sticky::coordinator
