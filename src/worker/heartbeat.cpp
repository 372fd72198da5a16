#include "heartbeat.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace sticky::worker {

namespace {

using namespace std::chrono_literals;

constexpr Duration kInterval = 1s;
// One beat never takes longer; a longer gap means that this process was stopped.
constexpr Duration kLongestGap = 3s;

}  // namespace

Heartbeat::Heartbeat(const Surroundings& around, const Vitals& vitals)
    : around_(around),
      vitals_(vitals),
      orphan_timeout_(std::chrono::duration_cast<Duration>(
          std::chrono::duration<double>(Options{}.orphan_timeout_seconds))),
      last_beat_(around.clock.now()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Heartbeat::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    beat();
    changed_.wait_for(lock, stop, kInterval, [] { return false; });
  }
}

void Heartbeat::beat() {
  around_.transport.send(
      protocol::kCoordinator,
      protocol::Heartbeat{
          .n_steps = vitals_.n_steps, .n_held = vitals_.n_held, .is_loading = vitals_.is_loading});
  const TimePoint now = around_.clock.now();
  silence_ += std::min(now - last_beat_, kLongestGap);
  last_beat_ = now;
  // Asking also makes the transport take in what came while the main thread computes.
  const i64 n_arrived = around_.transport.n_arrived(protocol::kCoordinator);
  if (n_arrived != n_arrived_) {
    n_arrived_ = n_arrived;
    silence_ = {};
  }
  if (silence_ > orphan_timeout_.load() && around_.abandon) {
    around_.abandon(fmt::format("the coordinator has been silent for {:.0f} s",
                                std::chrono::duration<double>(silence_).count()));
  }
}

}  // namespace sticky::worker
