#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sticky/base/clock.hpp"
#include "sticky/protocol/processes.hpp"
#include "sticky/protocol/transport.hpp"
#include "sticky/worker/options.hpp"
#include "sticky/worker/service.hpp"

namespace sticky::worker {

/// What a worker's life needs from around it.
struct Surroundings {
  protocol::Transport& transport;  ///< its only peer is the coordinator
  protocol::Processes& processes;  ///< to fence a lost worker of this host
  const Clock& clock;
  /// Makes what does the work, once the coordinator has sent the options. It is then loaded.
  std::function<std::unique_ptr<Service>(const Options&, WorkerId)> make_service;
  protocol::ProcessName self;
  std::string device;  ///< for people
  /// Whether this process was asked to end (SIGTERM, SIGUSR1). Then it waits 5 s for the
  /// coordinator's word and, without one, drains by itself.
  std::function<bool()> is_asked_to_leave = [] { return false; };
  /// Called on a thread of its own when the coordinator has been silent for too long, whatever the
  /// worker's main thread is doing. Should end the process.
  std::function<void(const std::string& reason)> abandon;
};

/// How a worker's life ended.
struct WorkerEnd {
  std::string reason;         ///< a sentence for the log
  bool may_finalize = false;  ///< whether everybody is there to finalize MPI with
  bool has_failed = false;    ///< its state could not be loaded, or its device was lost
};

/// A worker's whole life: Hello → Welcome → load → StateReady, then invocations in and results out
/// until it is told to leave or its coordinator is gone. Heartbeats come from a thread of its own,
/// so that a long step of the engine does not look like death. Never throws for what a message or
/// the service does; the reason is in the result.
[[nodiscard]] WorkerEnd run_worker(const Surroundings& surroundings);

}  // namespace sticky::worker
