#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <variant>

#include "sticky/comm/in_process_transport.hpp"
#include "sticky/comm/local_processes.hpp"
#include "sticky/worker/worker_loop.hpp"

namespace sticky::worker {

using MakeService = std::function<std::unique_ptr<Service>(const Options&, WorkerId)>;

/// A worker on a thread of its own; the test is its coordinator.
class WorkerLife {
 public:
  explicit WorkerLife(MakeService make_service)
      : links_(comm::make_in_process_links(1)),
        thread_([this, make_service = std::move(make_service)] {
          end_ = run_worker({.transport = *links_.workers[0],
                             .processes = *processes_,
                             .clock = clock_,
                             .make_service = make_service,
                             .self = comm::this_process(),
                             .device = "none",
                             .is_asked_to_leave = [] { return false; },
                             .abandon = nullptr});
        }) {}
  ~WorkerLife() { await_end(); }
  WorkerLife(const WorkerLife&) = delete;
  WorkerLife& operator=(const WorkerLife&) = delete;

  /// The next message that is no heartbeat.
  protocol::Message next() {
    while (queue_.empty()) {
      for (protocol::Incoming& incoming : links_.coordinator->poll(std::chrono::hours(1))) {
        auto& message = std::get<protocol::Arrived>(incoming).message;
        if (!std::holds_alternative<protocol::Heartbeat>(message))
          queue_.push_back(std::move(message));
      }
    }
    protocol::Message first = std::move(queue_.front());
    queue_.pop_front();
    return first;
  }
  template <class M>
  M next() {
    return std::get<M>(next());
  }
  void say(const protocol::Message& message) { links_.coordinator->send({1}, message); }
  void welcome() {
    (void)next<protocol::Hello>();
    say(protocol::Welcome{{1}, to_json(Options{}).dump()});
  }
  void cut_link() { links_.coordinator.reset(); }
  WorkerEnd await_end() {
    if (thread_.joinable()) thread_.join();
    return end_;
  }

 private:
  SteadyClock clock_;
  std::unique_ptr<protocol::Processes> processes_ = comm::make_local_processes();
  comm::InProcessLinks links_;
  std::deque<protocol::Message> queue_;
  WorkerEnd end_;
  std::thread thread_;
};

}  // namespace sticky::worker
