#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sticky/base/clock.hpp"
#include "sticky/base/ids.hpp"
#include "sticky/malleability/resize_policy.hpp"
#include "sticky/malleability/resize_status.hpp"
#include "sticky/protocol/spawner.hpp"

namespace sticky::coordinator {

/// How workers come and go while the run goes on; what is empty is not there.
struct Doors {
  protocol::Spawner* spawner = nullptr;
  malleability::Limits limits = {};  ///< `initial` is known to the coordinator
  std::function<std::vector<malleability::Ordered>()> take_orders = nullptr;
  /// The last answer of the source; never waits.
  std::function<std::optional<std::vector<malleability::Host>>()> idle_hosts = nullptr;
  std::string here = {};  ///< this host, on which a spawn onto "" starts
};

/// Keeps the number of workers where it should be: hands the policy what it wants to know, starts
/// whom it wants, and tells who shall leave. The shell between the resize policy and the spawner.
class Workforce {
 public:
  /// `n_initial`: workers of the launch; where there are none, one is started.
  Workforce(Doors doors, i64 n_initial);

  /// A worker of the launch.
  void add_initial(WorkerId worker, TimePoint now);
  /// What came of the spawns since the last call: the newcomers. Failures go to the policy and into
  /// `failures`.
  struct News {
    std::vector<WorkerId> newcomers;
    std::vector<std::string> failures;
  };
  [[nodiscard]] News news(TimePoint now);
  /// Its Hello: from then on it counts for its host.
  void note_host(WorkerId worker, const std::string& host);
  void note_ready(WorkerId worker, TimePoint now);
  enum class Fate { left, lost, failed_to_load };
  void note_gone(WorkerId worker, Fate fate, const std::string& reason, TimePoint now);
  /// The process of a worker has ended for certain: its slot and its device are free.
  void note_ended(WorkerId worker, TimePoint now);

  /// Asks the policy, starts spawns, and gives the workers that shall leave. The caller fills in
  /// time, requests, rates, and the states of the workers. While a process is about to end nothing
  /// is decided: its device is not free yet, and a spawn meanwhile may hang.
  [[nodiscard]] std::vector<WorkerId> decide(malleability::Situation situation);
  /// Answers the orders that came; nobody comes or goes because of them.
  void refuse_orders(const std::string& why);
  /// Whether workers may still come that nobody has heard of yet.
  [[nodiscard]] bool is_help_expected() const;
  [[nodiscard]] bool is_anyone_under_way() const { return !under_way_.empty(); }
  [[nodiscard]] bool has_anyone_been_spawned() const { return has_spawned_; }
  [[nodiscard]] const malleability::ResizeStatus& status() const { return status_; }

 private:
  struct Seat {
    std::string host;
    std::string asked_host;  // key of the name that it was spawned onto; empty: none
    i64 place = 0;           // among the workers of its host
    TimePoint since;
    bool was_ready = false;
    std::optional<TimePoint> gone;  // and its process may live on
  };

  void complete(malleability::Situation& situation);
  void publish(malleability::Decision& decision);
  void answer(malleability::Verdict verdict);
  void start(const std::string& host);
  [[nodiscard]] bool is_quiet(TimePoint now);
  [[nodiscard]] std::string known_name(const std::string& host) const;
  [[nodiscard]] bool can_spawn() const;
  [[nodiscard]] bool is_state_bad() const;

  Doors doors_;
  malleability::ResizePolicy policy_;
  malleability::ResizeStatus status_;
  std::map<i64, Seat> seats_;                               // by worker: whoever may hold a device
  std::vector<protocol::SpawnOrder> under_way_;             // spawns
  std::vector<malleability::Situation::Failure> failures_;  // since the last decision
  std::map<std::string, std::string> real_names_;           // Situation::real_names
  bool has_spawned_ = false;
  TimePoint last_end_;     // of a process
  bool will_grow_ = true;  // as far as the last decision knows, or nobody has asked since
  i64 n_failed_to_load_ = 0;
  i64 n_lost_otherwise_ = 0;
  double load_seconds_ = 0.0;
  i64 n_loads_ = 0;
};

}  // namespace sticky::coordinator
