#pragma once

#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sticky/base/clock.hpp"
#include "sticky/base/ids.hpp"
#include "sticky/base/types.hpp"
#include "sticky/malleability/host.hpp"
#include "sticky/malleability/orders.hpp"
#include "sticky/malleability/resize_status.hpp"

namespace sticky::malleability {

inline constexpr i64 kNoLimit = std::numeric_limits<i64>::max();

/// What a run may have.
struct Limits {
  i64 initial = 1;  ///< workers of the launch; what the run keeps until it is told otherwise
  i64 min_workers = 1;
  i64 max_workers = kNoLimit;
  /// Workers on one host as far as no slots say how many fit: on this one, where the launch has
  /// none, and on one that is added by hand. Those of the launch are never too many.
  i64 max_on_host = kNoLimit;
  /// Newcomers under way at a time: spawns, and workers that have not loaded yet. All of them read
  /// the model's files, so this bounds the readers when many workers are lost at once.
  i64 max_loading = 4;
};

/// How things stand, as the coordinator sees them.
struct Situation {
  enum class State { joining, loading, ready, leaving };
  struct Worker {
    WorkerId id;
    std::string host;
    State state = State::ready;
    i64 n_held = 0;
  };
  /// A newcomer that came to nothing: its spawn failed, or it was lost before it was ever ready.
  /// Not one that was told to leave or that its system took away, and not a worker that was ready:
  /// those are only missing.
  struct Failure {
    std::string host;  ///< as asked for in Decision::grow, or where the worker was
    std::string reason;
  };

  TimePoint now;
  i64 n_waiting = 0;  ///< requests that are read and on no worker
  i64 n_held = 0;     ///< requests on workers
  bool has_input_ended = false;
  std::optional<double> request_seconds;  ///< of one worker for one request: 1 / its rate
  std::optional<double> load_seconds;     ///< mean, from spawn or launch to ready
  std::vector<Worker> workers;            ///< those that are not gone
  std::vector<std::string> spawning;      ///< hosts of the spawns under way, as in Decision::grow
  std::vector<Failure> failures;          ///< since the last decision
  bool can_spawn = false;
  std::string why_not;  ///< a sentence when it cannot
  std::string here;     ///< the host on which a spawn onto "" starts
  /// host_key() of a name under which a newcomer was asked for (an address, an alias) to host_key()
  /// of what that host calls itself: both mean one host.
  std::map<std::string, std::string> real_names;
  i64 n_free_here = kNoLimit;  ///< how many more workers fit there
  /// From IdleNodes: nothing when there is no source, or it does not know.
  std::optional<std::vector<Host>> idle;
};

struct Decision {
  std::vector<std::string> grow;  ///< start one worker on each of these hosts; "": here
  std::vector<WorkerId> drain;    ///< tell these to leave
  std::vector<Verdict> verdicts;  ///< one an order, in their order
  /// Workers are missing that the policy means to start later (after a back-off, or when fewer are
  /// loading): a run without any worker waits for them.
  bool will_grow = false;
  std::string why;  ///< a sentence; empty when nothing is done
};

/// How many workers a run should have, and where. Pure: the same calls give the same decisions. It
/// is asked about once a second while the run is running (not when it drains or closes); what it
/// decides appears in the next Situation: a grown host in `spawning`, in `workers` or in
/// `failures`, a drained worker as leaving or gone.
///
/// The target is the number ordered by hand, or else the number of the launch.
///  - Fewer than the target: workers are started, if the queue pays for it: what is known to wait
///    keeps the present workers busy for at least kPayFactor times a load. What was just ordered by
///    hand is started in any case, and so is what `min_workers` lacks while there is work.
///  - More than the target: only an order by hand, or `max_workers`, drains. Those that hold least
///    leave first, among them the newest.
///  - With a list of idle hosts: every free slot on it is worth a worker, if the queue pays, until
///  a
///    number is ordered by hand (--workers). Workers leave a host that was on the list and no
///    longer is. A host comes or goes when the list has said so for kSettle: a list that flickers
///    moves nobody.
///  - Never beyond `max_workers`, those that are leaving included; an order that would lead there,
///    or below `min_workers`, is refused.
///  - Failures: each in a row on a host doubles its wait, from kFirstWait on. After
///    kFailuresOnHost it rests for kRest, after kFailuresInARow over all hosts everything does. The
///    rest ends only where a worker is ready, which shows that a load can succeed: one that cannot
///    ends the run. A newcomer that gets ready clears its host and that count; an order by hand to
///    start workers clears everything.
///  - A host that was drained by hand gets no worker until it is added by hand.
///  - Workers that were ordered on a host are started there or not at all, until they have been
///    ready once or a number is ordered.
class ResizePolicy {
 public:
  static constexpr double kPayFactor = 2.0;
  static constexpr Duration kSettle = std::chrono::seconds(3);
  static constexpr Duration kFirstWait = std::chrono::seconds(1);
  static constexpr Duration kRest = std::chrono::minutes(5);
  static constexpr i64 kFailuresOnHost = 3;
  static constexpr i64 kFailuresInARow = 6;

  explicit ResizePolicy(const Limits& limits);

  [[nodiscard]] Decision decide(const Situation& situation, std::span<const Ordered> orders = {});

  [[nodiscard]] i64 target() const { return target_; }
  /// Slots that the list or an order gives a host of Decision::grow; 0: it is not known ("").
  [[nodiscard]] i64 slots_of(const std::string& host) const;

 private:
  struct Place {              // a host
    std::string name;         // as it was listed or ordered
    i64 listed_slots = 0;     // by the idle list, settled
    i64 ordered_slots = 0;    // by --add
    bool was_listed = false;  // it obeys the list from then on
    bool is_banned = false;   // by --drain
    bool is_owed = false;     // --add is not fulfilled yet: not all of them have been ready
    i64 n_failures = 0;       // in a row
    TimePoint not_before{};
    i64 seen_slots = 0;      // by the idle list, not settled yet …
    TimePoint seen_since{};  // … and since when
  };
  class Round;

  void learn_names(const Situation& situation);
  void learn_ready(const Situation& situation);
  void learn_failures(const Situation& situation);
  void learn_list(const Situation& situation);
  void forgive_failures();

  [[nodiscard]] i64 most_on(const std::string& key, const Round& round) const;
  [[nodiscard]] i64 due_on(const std::string& key, const Round& round) const;
  [[nodiscard]] std::string most_on_host() const;
  [[nodiscard]] Verdict judge(const Ordered& ordered, Round& round);
  [[nodiscard]] Verdict obey(const SetWorkers& order, Round& round);
  [[nodiscard]] Verdict obey(const AddHost& order, Round& round);
  [[nodiscard]] Verdict obey(const DrainHost& order, Round& round);

  void drain_hosts(Round& round) const;
  void drain_surplus(Round& round) const;
  void see_what_is_owed(const Round& round);
  void grow(Round& round);
  [[nodiscard]] std::string grow_by_one(Round& round);

  [[nodiscard]] Place& place_of(const std::string& host, const Situation& situation);
  [[nodiscard]] i64 free_slots_here(const Round& round) const;
  [[nodiscard]] i64 owed_elsewhere(const std::string& key, const Round& round) const;
  [[nodiscard]] i64 free_slots_on(const std::string& key, const Round& round) const;
  [[nodiscard]] i64 free_slots(const Round& round, const std::string* but = nullptr) const;
  [[nodiscard]] i64 offered_slots_on(const std::string& key,
                                     const Place& place,
                                     const Round& round) const;
  [[nodiscard]] i64 missing(const Round& round) const;
  [[nodiscard]] std::vector<const Place*> places_with_room(const Round& round);
  [[nodiscard]] bool is_worth(const Place& place, const Round& round) const;

  Limits limits_;
  i64 target_;
  bool is_by_hand_ = false;  // a number was ordered: the idle list does not grow the run
  bool is_owed_ = false;  // ordered by hand and not reached yet: started without asking the queue
  i64 n_failures_ = 0;    // in a row, over all hosts
  TimePoint rest_until_{};
  std::string last_failure_;
  WorkerId newest_ready_;
  std::map<std::string, Place> places_;  // by host_key()
};

}  // namespace sticky::malleability
