#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sticky/comm/mpi_session.hpp"
#include "sticky/protocol/spawner.hpp"
#include "sticky/topology/bind.hpp"

#include "rank.hpp"
#include "signals.hpp"

namespace sticky::cli {

// Concrete parts put together: the only place that knows which MPI, which processes and which
// service a rank has. Each is a rank's whole life in its launch; the session is still open
// afterwards.
struct RankEnd {
  int exit_code = 0;
  bool may_finalize = false;
};

/// A coordinator whose workers are the other ranks, and those that it starts; where there are no
/// others it starts the first.
[[nodiscard]] RankEnd live_as_coordinator(const RankJob& job,
                                          comm::MpiSession& session,
                                          SignalQueue& signals);
/// A coordinator and one worker in this process, the worker on a thread of its own.
[[nodiscard]] RankEnd live_alone(const RankJob& job,
                                 comm::MpiSession& session,
                                 SignalQueue& signals);
/// `on_welcome`: called when the coordinator has accepted this worker.
[[nodiscard]] RankEnd live_as_worker(
    comm::MpiSession& session,
    SignalQueue& signals,
    const topology::LocalPlace& place,
    const std::function<void()>& on_welcome = [] {});
/// The arguments of a process that is started to be a worker, and the command they name.
inline constexpr const char* kWorkerCommand = "worker";
[[nodiscard]] std::vector<std::string> worker_arguments(const protocol::SpawnOrder& order);

}  // namespace sticky::cli
