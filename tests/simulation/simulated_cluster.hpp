#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sticky/base/clock.hpp"
#include "sticky/protocol/codec.hpp"
#include "sticky/protocol/processes.hpp"
#include "sticky/protocol/transport.hpp"

namespace sticky::test {

/// What will happen to one worker. Times are since the start; a negative one: never.
struct Fate {
  double hello_at = 0.0;
  double load_time = 1.0;
  double dies_at = -1.0;
  bool is_death_reported = false;  ///< the transport notices; else only silence tells
  double freezes_at = -1.0;
  double thaws_at = -1.0;
  double hangs_at = -1.0;  ///< beats on, but its engine stands still
  double leaves_at = -1.0;
  bool fails_to_load = false;
  bool can_be_killed = true;  ///< false: its host is out of reach of the fence
  double doubles = 0.0;       ///< probability that a message with results is sent twice
  double lies = 0.0;          ///< probability that it also answers what it never got
};

/// Workers and the network between them and one coordinator, in simulated time. Messages of one
/// link keep their order and take a random while. After forget() messages still come, as the worst
/// of networks would have it.
class SimulatedCluster final : public protocol::Transport, public protocol::Processes {
 public:
  SimulatedCluster(const ManualClock& clock, std::vector<Fate> fates, unsigned seed);

  /// Requests that kill every worker which begins to work on them.
  std::set<i64> poison;
  /// Lets everybody do what is due by now.
  void act();
  /// Workers that are alive, could have been killed, and were not told that they may end.
  [[nodiscard]] std::vector<i64> left_behind() const;

  [[nodiscard]] std::vector<protocol::PeerId> peers() const override;
  void send_bytes(protocol::PeerId to, std::string encoded) override;
  [[nodiscard]] std::vector<protocol::Incoming> poll(Duration patience) override;
  void forget(protocol::PeerId) override {}
  [[nodiscard]] i64 unsent_bytes(protocol::PeerId) const override { return 0; }
  [[nodiscard]] i64 n_arrived(protocol::PeerId) override { return 0; }

  [[nodiscard]] bool is_here(const protocol::ProcessName&) const override { return true; }
  bool watch(protocol::PeerId, const protocol::ProcessName&) override { return false; }
  [[nodiscard]] std::vector<protocol::PeerId> ended() override { return {}; }
  bool kill(const protocol::ProcessName& process) override;

 private:
  struct Letter {
    double at = 0.0;
    std::string bytes;
  };
  struct Worker {
    Fate fate;
    bool is_dead = false;
    bool has_said_hello = false;
    bool has_said_bye = false;
    bool is_told_farewell = false;
    bool is_leaving = false;
    double ready_at = -1.0;  // once welcomed
    bool is_ready = false;
    double next_beat = 0.0;
    double next_step = 0.0;
    i64 n_steps = 0;
    std::deque<protocol::Invocation> held;
    std::set<i64> assigned;  // ever, from the moment of sending
    std::deque<Letter> to_worker;
    std::deque<Letter> to_coordinator;
    bool is_loss_due = false;
  };

  void act(Worker& worker);
  void hear(Worker& worker, const protocol::Message& message);
  void step(Worker& worker);
  void leave(Worker& worker, bool now);
  void say(Worker& worker, const protocol::Message& message);
  void post(std::deque<Letter>& line, std::string bytes);
  [[nodiscard]] double now() const;
  [[nodiscard]] double any(double low, double high);
  [[nodiscard]] bool chance(double probability) { return any(0.0, 1.0) < probability; }

  const ManualClock& clock_;
  std::mt19937 random_;
  std::vector<Worker> workers_;  // peer k is workers_[k - 1]
};

}  // namespace sticky::test
