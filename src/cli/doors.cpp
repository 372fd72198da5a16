#include "doors.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "sticky/comm/local_processes.hpp"

namespace sticky::cli {

namespace {

constexpr std::chrono::seconds kSampleInterval{1};

// Where the user set no limit: more workers than this share the CPUs of a host to no purpose, and
// each of them takes memory for a model.
i64 most_on_host(i64 n_cpus) {
  constexpr i64 kWorkersPerCpu = 4;
  constexpr i64 kAtLeast = 16;
  return std::max(kWorkersPerCpu * n_cpus, kAtLeast);
}

malleability::Limits limits_of(const malleability::Options& options, i64 n_cpus) {
  malleability::Limits limits{.min_workers = options.min_workers};
  if (options.max_workers > 0)
    limits.max_workers = options.max_workers;
  else
    limits.max_on_host = most_on_host(n_cpus);
  return limits;
}

}  // namespace

RunDoors::RunDoors(const std::string& run_dir,
                   const malleability::Options& options,
                   i64 n_cpus,
                   protocol::Spawner* spawner)
    : orders_(run_dir),
      options_(options),
      n_cpus_(n_cpus),
      spawner_(spawner),
      idle_nodes_(malleability::make_idle_nodes(options.watch)) {
  if (spawner_ != nullptr)
    spawner_->set_timeout(std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(options.spawn_timeout_seconds)));
  if (!idle_nodes_) return;
  // A thread of its own, for the list may lie on a slow file system.
  sampling_.emplace(kSampleInterval, [this] {
    auto found = idle_nodes_->sample();
    const std::lock_guard lock(mutex_);
    idle_ = std::move(found);
  });
}

coordinator::Doors RunDoors::open() {
  coordinator::Doors doors{.spawner = spawner_,
                           .limits = limits_of(options_, n_cpus_),
                           .take_orders = [this] { return orders_.take(); },
                           .here = comm::this_process().host};
  if (idle_nodes_)
    doors.idle_hosts = [this] {
      const std::lock_guard lock(mutex_);
      return idle_;
    };
  return doors;
}

}  // namespace sticky::cli
