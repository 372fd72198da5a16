#pragma once

#include <memory>
#include <vector>

#include "sticky/base/types.hpp"
#include "sticky/protocol/transport.hpp"

namespace sticky::comm {

/// A coordinator and its workers inside one process, each on a thread of its own: `mpirun -n 1`,
/// and tests. Messages are encoded and decoded as over MPI. Workers are peers 1..n. A side that is
/// destroyed is lost to the other.
struct InProcessLinks {
  std::unique_ptr<protocol::Transport> coordinator;
  std::vector<std::unique_ptr<protocol::Transport>> workers;
};
[[nodiscard]] InProcessLinks make_in_process_links(i64 n_workers);

}  // namespace sticky::comm
