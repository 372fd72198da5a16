#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sticky/base/clock.hpp"
#include "sticky/base/ids.hpp"
#include "sticky/coordinator/actions.hpp"
#include "sticky/coordinator/events.hpp"
#include "sticky/coordinator/id_table.hpp"
#include "sticky/coordinator/options.hpp"
#include "sticky/coordinator/pace.hpp"

namespace sticky::coordinator {

/// Decides who runs what, who is lost, and when the run is over. Pure: no MPI, no files, no clock,
/// no threads; the same events give the same actions. `now` of an event never goes back.
///
/// Invariants, after every event:
///  - an invocation is waiting, held by one worker or – a copy – by two, or recorded; recorded
///    exactly once: late results of a lost worker and of the slower copy are dropped, and a worker
///    id is never used again;
///  - no worker has more to do than its slots, a lost race that it still runs included;
///  - what a lost worker held alone waits at the front of the queue, in the order of the input.
///
/// Dispatch costs O(1) an invocation, whatever the number of workers. While much waits every worker
/// is filled to its slots. Towards the end each is filled to its share of all that is not recorded,
/// in proportion to its measured rate, so that all finish together; a worker without a measured
/// rate counts as the mean of the others, by slots. When nothing waits and somebody is idle, then
/// on a Tick
///  - what a worker holds above its share is asked back from it, as far as it has not started;
///  - at the very end one copy of what has run for more than max(1 s, twice the mean turnaround)
///    goes to an idle worker of the same arithmetic, and the first result wins. The loser is not
///    told: only a result that nobody needs is lost with it, and its slot counts as taken until
///    that result comes.
///
/// A request that was in flight in `attempts - 1` deaths is a suspect: it runs alone on its worker,
/// so that a poisonous request is found out without harm to those that happened to run beside it.
/// What was in flight in any death is never copied.
///
/// Phases: running → closing (everything recorded) or draining (asked to stop) → ended (no worker
/// left). A worker: expected → joined → loading → ready → leaving → gone; gone from anywhere.
/// Joined means not yet welcome: at most max_readers hosts that have no ready worker load at once,
/// however many come back together. Workers of one host count once, for they read through one page
/// cache: a launch on one host is never slowed.
class Reactor {
 public:
  enum class Phase { running, draining, closing, ended };
  enum class WorkerState { expected, joined, loading, ready, leaving, gone };

  Reactor(const Options& options, TimePoint start);

  [[nodiscard]] Actions on(What what, TimePoint now);
  /// Who gets what of what waits. Called once after a batch of events, so that one message carries
  /// all that a worker gets in a turn.
  [[nodiscard]] Actions dispatch(TimePoint now);

  [[nodiscard]] Phase phase() const { return phase_; }
  /// Whether more input should be read: below the memory bound, not far ahead of the workers, and
  /// nobody has asked to stop.
  [[nodiscard]] bool wants_input() const;
  [[nodiscard]] bool is_complete() const;  ///< the input has ended and all of it is recorded
  /// Why the run ends early; empty when it does not.
  [[nodiscard]] const std::string& stop_reason() const { return stop_reason_; }
  [[nodiscard]] bool are_all_lost() const { return are_all_lost_; }
  [[nodiscard]] i64 n_waiting() const;
  [[nodiscard]] i64 n_held() const { return invocations_.size() - n_waiting(); }
  [[nodiscard]] i64 queued_bytes() const { return queued_bytes_; }
  [[nodiscard]] WorkerState state_of(WorkerId worker) const;
  [[nodiscard]] i64 n_held_by(WorkerId worker) const;
  /// Checks the invariants, in time linear in everything: for tests.
  void check() const;

 private:
  static constexpr i32 kNobody = -1;
  struct Invocation {  // 16 bytes, for there may be millions
    i32 worker = kNobody;
    i32 place = 0;  // in Worker::held
    std::uint32_t n_bytes = 0;
    std::uint16_t n_deaths = 0;
    bool is_copied = false;   // a second worker holds it: copies_
    bool was_copied = false;  // since it last waited
  };
  struct Seat {  // of a copy
    i32 worker = kNobody;
    i32 place = 0;
  };
  struct Held {
    InvocationId id;
    TimePoint since;
  };
  struct Worker {
    WorkerState state = WorkerState::gone;
    bool is_known = false;       // was ever expected or joined: the id is used up
    bool is_open = false;        // takes part in dispatch: its free slots are in n_free_
    bool is_listed = false;      // stands in ready_
    bool is_welcome = false;     // Welcome was sent
    bool is_told = false;        // Leave was sent
    bool is_told_now = false;    // Leave{now} was sent
    bool is_preempted = false;   // it leaves of its own will
    bool is_asked_back = false;  // a TakeBack is not yet answered
    i32 host = 0;                // in hosts_, once it has joined
    i64 slots = 0;
    std::vector<Held> held;
    std::vector<InvocationId> late;  // lost races that it still runs
    std::string arithmetic;
    Pace pace;
    double weight = 0.0;  // expected results a second; its slots where nobody's rate is known
    TimePoint heard;      // last message of any kind
    TimePoint since;      // of the state it is in
    TimePoint leave_by;   // when it is leaving
    TimePoint moved;      // the step counter changed, a result came, or work came to an idle worker
    TimePoint asked_back;  // when the last TakeBack was sent
    i64 n_steps = 0;
    Duration longest_step{};
    [[nodiscard]] i64 n_held() const { return static_cast<i64>(held.size()); }
    [[nodiscard]] i64 n_free() const { return slots - n_held() - static_cast<i64>(late.size()); }
  };
  struct Straggler {
    InvocationId id;
    TimePoint since;
    const std::string* arithmetic;
  };
  struct Host {
    std::string name;
    i64 n_loading = 0;
    i64 n_ready = 0;  // and leaving ones
  };

  // One place an event, in reactor_events.cpp.
  void happens(WorkerExpected& e, Actions& out);
  void happens(WorkerJoined& e, Actions& out);
  void happens(WorkerReady& e, Actions& out);
  void happens(WorkerFailed& e, Actions& out);
  void happens(HeartbeatArrived& e, Actions& out);
  void happens(ResultsArrived& e, Actions& out);
  void happens(HandedBack& e, Actions& out);
  void happens(WorkerBye& e, Actions& out);
  void happens(WorkerGone& e, Actions& out);
  void happens(InputRead& e, Actions& out);
  void happens(InputEnded& e, Actions& out);
  void happens(JournalPressed& e, Actions& out);
  void happens(HelpExpected& e, Actions& out);
  void happens(LeaveAsked& e, Actions& out);
  void happens(StopAsked& e, Actions& out);
  void happens(Tick& e, Actions& out);

  // The living: who is late, who leaves, when it is over (reactor_life.cpp).
  void check_deadlines(WorkerId id, Actions& out);
  void check_engine(WorkerId id, Actions& out);
  void drop(WorkerId id, Cause cause, std::string reason, Actions& out);
  void tell_all_to_leave(bool now, Actions& out);
  void tell_to_leave(WorkerId id, bool now, Actions& out);
  void begin_leaving(WorkerId id);
  void stop(std::string reason, bool at_once, Actions& out);
  void forgive_pause(Duration pause);
  void settle(Actions& out);

  // Who may load (reactor_loading.cpp).
  [[nodiscard]] i32 host_named(const std::string& name);
  void welcome_joined(Actions& out);
  void count_ready(const Worker& worker);
  void leave_host(const Worker& worker);

  // Unlike workers and the end of the run (reactor_balance.cpp).
  [[nodiscard]] double weight_of(const Worker& worker) const;
  void weigh();
  void balance(Actions& out);
  [[nodiscard]] static i64 share_of(const Worker& worker, i64 n_in_reach, double weight);
  void take_back_excess(Actions& out);
  i64 take_back(WorkerId id, i64 n, Actions& out);
  void copy_stragglers(Actions& out);
  [[nodiscard]] std::vector<Straggler> stragglers() const;

  // The work (reactor.cpp).
  [[nodiscard]] Worker* heard_of(WorkerId id);
  [[nodiscard]] Worker& at(WorkerId id) { return workers_[static_cast<std::size_t>(id.value)]; }
  [[nodiscard]] bool holds(WorkerId id, InvocationId what, const Invocation& invocation) const;
  [[nodiscard]] bool accept(WorkerId id, InvocationId what);
  [[nodiscard]] i32 seat(InvocationId what, Worker& worker);
  TimePoint release(InvocationId what, Invocation& invocation, WorkerId id);
  void lose_race(InvocationId what, Invocation& invocation);
  void end_race(Worker& worker, InvocationId what);
  void forget(InvocationId id, const Invocation& invocation);
  void queue_at_front(InvocationId id, Invocation& invocation);
  [[nodiscard]] bool is_suspect(const Invocation& invocation) const;
  void give_back_all(WorkerId id, Cause cause, Actions& out);
  void open(WorkerId id);
  void close(WorkerId id);
  void send(WorkerId id, i64 n, std::deque<InvocationId>& from, Actions& out);
  void share_out(Actions& out);
  void try_suspects(Actions& out);
  [[nodiscard]] std::optional<WorkerId> pick_isolation() const;
  void check_held(WorkerId id) const;

  Options options_;
  TimePoint start_;
  TimePoint now_;
  TimePoint last_tick_;
  Phase phase_ = Phase::running;
  std::string stop_reason_;
  bool has_input_ended_ = false;
  bool is_journal_pressed_ = false;
  bool are_all_lost_ = false;
  bool is_help_expected_ = false;
  bool was_help_expected_ = false;

  IdTable<Invocation> invocations_;  // all that are read and not recorded
  std::map<InvocationId, Seat> copies_;
  std::map<InvocationId, std::vector<Cause>> deaths_;  // of those that were in flight in any
  std::deque<InvocationId> waiting_;
  std::deque<InvocationId> suspects_;  // wait too, but may only run alone
  i64 queued_bytes_ = 0;

  std::vector<Worker> workers_;  // by WorkerId
  std::vector<Host> hosts_;
  std::deque<WorkerId> joined_;     // wait for their welcome; those that no longer do get skipped
  std::deque<WorkerId> ready_;      // open and free; those that no longer are get skipped
  std::vector<WorkerId> at_share_;  // free, but hold their share: not in ready_ until a tick
  std::optional<WorkerId> isolation_;  // runs suspects, one at a time; not open
  i64 n_free_ = 0;                     // free slots of all open workers
  i64 n_slots_ = 0;                    // slots of all open workers
  double weight_ = 0.0;                // of all open workers
  double weight_of_slot_ = 1.0;        // of a worker whose rate is unknown
  bool is_any_rate_known_ = false;
  double turnaround_seconds_ = 0.0;  // from sending to result, a running mean
  i64 n_living_ = 0;
};

}  // namespace sticky::coordinator
