#pragma once

#include <functional>
#include <string>

#include "sticky/protocol/processes.hpp"
#include "sticky/protocol/spawner.hpp"
#include "sticky/protocol/transport.hpp"

#include "rank.hpp"
#include "signals.hpp"

namespace sticky::cli {

/// What rank 0 needs of the process it lives in.
struct CoordinatorSeat {
  protocol::Transport& transport;
  protocol::Processes& processes;
  protocol::Spawner* spawner = nullptr;  ///< null: the number of workers is fixed
  SignalQueue& signals;
  i64 n_cpus = 1;  ///< of this host, for all of its ranks
  i64 n_ranks = 1;
  std::string mpi_library = {};
  std::string mpi_capability = {};
};

struct Coordinated {
  int exit_code = 0;
  bool may_finalize = false;
};

/// The coordinator's whole life: configuration, run folder, run, summary. Says on standard error
/// what is wrong; throws nothing that a user can have caused.
[[nodiscard]] Coordinated coordinate(const RankJob& job, const CoordinatorSeat& seat);

}  // namespace sticky::cli
