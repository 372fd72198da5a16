#include "doors.hpp"

#include <chrono>
#include <utility>

#include "sticky/comm/local_processes.hpp"

namespace sticky::cli {

namespace {

constexpr std::chrono::seconds kSampleInterval{1};

}  // namespace

RunDoors::RunDoors(const std::string& run_dir,
                   const malleability::Options& options,
                   protocol::Spawner* spawner)
    : orders_(run_dir),
      options_(options),
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
  coordinator::Doors doors{
      .spawner = spawner_,
      .limits = {.min_workers = options_.min_workers,
                 .max_workers =
                     options_.max_workers > 0 ? options_.max_workers : malleability::kNoLimit},
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
