#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sticky/coordinator/periodic.hpp"
#include "sticky/coordinator/workforce.hpp"
#include "sticky/malleability/idle_nodes.hpp"
#include "sticky/malleability/options.hpp"
#include "sticky/malleability/orders.hpp"
#include "sticky/protocol/spawner.hpp"

namespace sticky::cli {

/// The ways in and out of a run that goes on: orders in its folder, the list of idle hosts, the
/// spawner. Outlives the coordinator.
class RunDoors {
 public:
  /// `n_cpus`: those that the workers of this host share. `spawner` may be null. ConfigError or
  /// SystemError when a way cannot be opened.
  RunDoors(const std::string& run_dir,
           const malleability::Options& options,
           i64 n_cpus,
           protocol::Spawner* spawner);

  [[nodiscard]] coordinator::Doors open();

 private:
  malleability::OrderBox orders_;
  malleability::Options options_;
  i64 n_cpus_;
  protocol::Spawner* spawner_;
  std::unique_ptr<malleability::IdleNodes> idle_nodes_;
  std::mutex mutex_;
  std::optional<std::vector<malleability::Host>> idle_;  // the last answer
  std::optional<coordinator::Periodic> sampling_;        // last: its thread uses all of the above
};

}  // namespace sticky::cli
