#pragma once

#include "sticky/comm/mpi_session.hpp"

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

/// A coordinator whose workers are the other ranks.
[[nodiscard]] RankEnd live_as_coordinator(const RankJob& job,
                                          comm::MpiSession& session,
                                          SignalQueue& signals);
/// A coordinator and one worker in this process, the worker on a thread of its own.
[[nodiscard]] RankEnd live_alone(const RankJob& job,
                                 comm::MpiSession& session,
                                 SignalQueue& signals);
[[nodiscard]] RankEnd live_as_worker(comm::MpiSession& session, SignalQueue& signals);

}  // namespace sticky::cli
