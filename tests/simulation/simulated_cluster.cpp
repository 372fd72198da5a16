#include "tests/simulation/simulated_cluster.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sticky::test {

using protocol::PeerId;

SimulatedCluster::SimulatedCluster(const ManualClock& clock, std::vector<Fate> fates, unsigned seed)
    : clock_(clock),
      random_(seed) {
  for (const Fate& fate : fates) {
    Worker worker;
    worker.fate = fate;
    workers_.push_back(std::move(worker));
  }
}

double SimulatedCluster::now() const {
  return std::chrono::duration<double>(clock_.now().time_since_epoch()).count();
}

double SimulatedCluster::any(double low, double high) {
  // Not std::uniform_real_distribution, whose numbers differ between libraries.
  return low + (high - low) * static_cast<double>(random_()) / 4294967296.0;
}

void SimulatedCluster::post(std::deque<Letter>& line, std::string bytes) {
  const double earliest = line.empty() ? 0.0 : line.back().at;
  const double delay = chance(0.1) ? any(0.0, 2.0) : any(0.0, 0.02);
  line.push_back({std::max(earliest, now() + delay), std::move(bytes)});
}

void SimulatedCluster::say(Worker& worker, const protocol::Message& message) {
  post(worker.to_coordinator, protocol::encode(message));
}

void SimulatedCluster::act() {
  for (Worker& worker : workers_)
    act(worker);
}

void SimulatedCluster::act(Worker& worker) {
  const Fate& fate = worker.fate;
  if (worker.is_dead || worker.is_told_farewell || now() < fate.hello_at) return;
  if (fate.dies_at >= 0.0 && now() >= fate.dies_at) {
    worker.is_dead = worker.is_loss_due = true;
    return;
  }
  if (fate.freezes_at >= 0.0 && now() >= fate.freezes_at &&
      (fate.thaws_at < 0.0 || now() < fate.thaws_at))
    return;
  if (!std::exchange(worker.has_said_hello, true)) {
    const auto number = static_cast<i64>(&worker - workers_.data()) + 1;
    say(worker, protocol::Hello{.host = "h", .pid = number, .start_ticks = 1, .device = ""});
  }
  if (now() >= worker.next_beat) {
    worker.next_beat = now() + 1.0;
    say(worker, protocol::Heartbeat{.n_steps = worker.n_steps});
  }
  if (fate.hangs_at >= 0.0 && now() >= fate.hangs_at) return;
  while (!worker.to_worker.empty() && worker.to_worker.front().at <= now()) {
    const std::string bytes = std::move(worker.to_worker.front().bytes);
    worker.to_worker.pop_front();
    hear(worker, protocol::decode(bytes));
  }
  if (worker.ready_at >= 0.0 && !worker.is_ready && now() >= worker.ready_at) {
    worker.is_ready = true;
    if (fate.fails_to_load) {
      say(worker, protocol::StateFailed{"no such model"});
      worker.is_dead = true;
      return;
    }
    say(worker, protocol::StateReady{1 + static_cast<i64>(random_() % 8), "echo", 0.0, "echo"});
  }
  if (fate.leaves_at >= 0.0 && now() >= fate.leaves_at && worker.is_ready) {
    worker.fate.leaves_at = -1.0;
    leave(worker, chance(0.5));
  }
  step(worker);
}

void SimulatedCluster::hear(Worker& worker, const protocol::Message& message) {
  if (const auto* work = std::get_if<protocol::RunInvocations>(&message)) {
    for (const protocol::Invocation& invocation : work->invocations)
      worker.held.push_back(invocation);
    if (worker.has_said_bye) return;  // Bye has given them back already
  } else if (std::holds_alternative<protocol::Welcome>(message)) {
    worker.ready_at = now() + worker.fate.load_time;
  } else if (const auto* told = std::get_if<protocol::Leave>(&message)) {
    leave(worker, told->now);
  } else if (const auto* wish = std::get_if<protocol::TakeBack>(&message)) {
    protocol::HandBack back{
        .reason = protocol::HandBack::Reason::taken_back, .arithmetic = {}, .invocations = {}};
    std::erase_if(worker.held, [&](const protocol::Invocation& one) {
      if (std::ranges::find(wish->ids, one.id) == wish->ids.end()) return false;
      back.invocations.push_back({one.id, {}});
      return true;
    });
    say(worker, back);
  } else if (std::holds_alternative<protocol::Farewell>(message)) {
    worker.is_told_farewell = true;
  }
}

void SimulatedCluster::leave(Worker& worker, bool at_once) {
  worker.is_leaving = true;
  protocol::HandBack back;
  if (at_once) {
    for (const protocol::Invocation& one : std::exchange(worker.held, {}))
      back.invocations.push_back({one.id, {}});
  }
  say(worker, back);
}

void SimulatedCluster::step(Worker& worker) {
  if (now() < worker.next_step || worker.has_said_bye) return;
  worker.next_step = now() + any(0.01, 0.5);
  protocol::Results message;
  const auto n = std::min<std::size_t>(worker.held.size(), 1 + random_() % 4);
  for (std::size_t k = 0; k < n; ++k) {
    const protocol::Invocation one = std::move(worker.held.front());
    worker.held.pop_front();
    if (poison.contains(one.id.value)) {
      worker.is_dead = worker.is_loss_due = true;
      return;  // with it go the answers of this step
    }
    message.results.push_back(
        {.id = one.id, .is_error = false, .record = std::to_string(one.id.value) + " answered"});
  }
  if (n > 0) ++worker.n_steps;
  // Another worker may hold it at this moment. The lie arrives at once, so that it cannot become
  // true.
  const i64 other = static_cast<i64>(random_() % 300);
  if (n > 0 && chance(worker.fate.lies) && !worker.assigned.contains(other) &&
      worker.to_coordinator.empty()) {
    const protocol::Result lie{.id = {other}, .is_error = false, .record = "a lie"};
    worker.to_coordinator.push_back({now(), protocol::encode(protocol::Results{{lie}})});
  }
  const bool is_doubled = chance(worker.fate.doubles);
  for (int k = 0; n > 0 && k < (is_doubled ? 2 : 1); ++k)
    say(worker, message);
  if (worker.is_leaving && worker.held.empty()) {
    worker.has_said_bye = true;
    say(worker, protocol::Bye{"leaving"});
  }
}

std::vector<PeerId> SimulatedCluster::peers() const {
  std::vector<PeerId> out;
  for (std::size_t k = 0; k < workers_.size(); ++k)
    out.push_back({static_cast<i64>(k) + 1});
  return out;
}

void SimulatedCluster::send_bytes(PeerId to, std::string encoded) {
  Worker& worker = workers_[static_cast<std::size_t>(to.value - 1)];
  const protocol::Message message = protocol::decode(encoded);
  if (const auto* work = std::get_if<protocol::RunInvocations>(&message)) {
    for (const protocol::Invocation& invocation : work->invocations)
      worker.assigned.insert(invocation.id.value);
  }
  post(worker.to_worker, std::move(encoded));
}

std::vector<protocol::Incoming> SimulatedCluster::poll(Duration) {
  std::vector<protocol::Incoming> out;
  for (std::size_t k = 0; k < workers_.size(); ++k) {
    Worker& worker = workers_[k];
    const PeerId peer{static_cast<i64>(k) + 1};
    while (!worker.to_coordinator.empty() && worker.to_coordinator.front().at <= now()) {
      out.emplace_back(
          protocol::Arrived{peer, protocol::decode(worker.to_coordinator.front().bytes)});
      worker.to_coordinator.pop_front();
    }
    // What was on its way when the worker died still arrives, then the loss, if it is noticed.
    if (worker.is_loss_due && worker.to_coordinator.empty()) {
      worker.is_loss_due = false;
      if (worker.fate.is_death_reported) out.emplace_back(protocol::PeerLost{peer, "link broke"});
    }
  }
  return out;
}

bool SimulatedCluster::kill(const protocol::ProcessName& process) {
  Worker& worker = workers_[static_cast<std::size_t>(process.pid - 1)];
  if (worker.fate.can_be_killed) worker.is_dead = true;
  return worker.fate.can_be_killed;
}

std::vector<i64> SimulatedCluster::left_behind() const {
  std::vector<i64> out;
  for (std::size_t k = 0; k < workers_.size(); ++k) {
    const Worker& worker = workers_[k];
    if (worker.has_said_hello && !worker.is_dead && !worker.is_told_farewell &&
        worker.fate.can_be_killed)
      out.push_back(static_cast<i64>(k) + 1);
  }
  return out;
}

}  // namespace sticky::test
