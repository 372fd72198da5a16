#pragma once

#include <string>

#include "sticky/base/types.hpp"

namespace sticky::topology {

/// Where this process stands among those of its launch on this node.
struct LocalPlace {
  i64 local_rank = 0;
  i64 n_local = 1;
  bool has_coordinator = true;     ///< rank 0 of the launch runs on this node (it is local rank 0)
  bool is_coordinator = false;     ///< this process is that rank 0, and no worker
  bool is_binding_chosen = false;  ///< the user asked the launcher for a binding
};

/// What a process may use, and how that came about.
struct Binding {
  i64 n_threads = 1;    ///< CPUs that this process may now use: threads for its engine
  std::string message;  ///< one line for the log: what was found, what was done, why
};

/// Where the binding is only the launcher's default, widens it to this worker's share of the CPUs
/// that the node's cgroup allows: the set is split over the local workers in order, less one CPU
/// for rank 0 where there are more than two. A binding that the user asked for is kept. The
/// coordinator gets the whole set: it sleeps most of the time.
[[nodiscard]] Binding bind_process(const LocalPlace& place);

}  // namespace sticky::topology
