#pragma once

#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sticky/base/clock.hpp"
#include "sticky/base/ids.hpp"
#include "sticky/coordinator/id_table.hpp"
#include "sticky/coordinator/options.hpp"
#include "sticky/protocol/message.hpp"

namespace sticky::coordinator {

// What can happen. Each comes from exactly one place: the transport, the processes of this host,
// the reader, the journal, the user or the clock.

/// A peer of the launch that has not said Hello yet.
struct WorkerExpected {
  WorkerId worker;
};
struct WorkerJoined {  ///< Hello
  WorkerId worker;
};
struct WorkerReady {  ///< StateReady
  WorkerId worker;
  i64 slots = 0;  ///< invocations it can hold at once, a batch in hand included
};
struct WorkerFailed {  ///< StateFailed
  WorkerId worker;
  std::string reason;
};
struct HeartbeatArrived {
  WorkerId worker;
  i64 n_steps = 0;
};
struct ResultsArrived {
  WorkerId worker;
  std::vector<protocol::Result> results;
};
struct HandedBack {
  WorkerId worker;
  std::vector<InvocationId> ids;
  protocol::HandBack::Reason reason = protocol::HandBack::Reason::leaving;
};
struct WorkerBye {
  WorkerId worker;
  std::string reason;
};
/// The link broke, the process ended, or its bytes made no sense.
struct WorkerGone {
  WorkerId worker;
  std::string reason;
};
struct InputRead {
  struct Line {
    InvocationId id;
    i64 n_bytes = 0;  ///< kept in memory until it is recorded
  };
  std::vector<Line> lines;
};
struct InputEnded {};
/// Whether results wait in too long a queue to be written. While they do nothing is dispatched.
struct JournalPressed {
  bool is_pressed = false;
};
/// Whether workers may still come that nobody has heard of yet: then a run without any goes on.
struct HelpExpected {
  bool is_expected = false;
};
/// One worker shall go, the others stay.
struct LeaveAsked {
  WorkerId worker;
  bool at_once = false;  ///< hand back instead of finishing what runs
};
struct StopAsked {
  std::string reason;
  bool at_once = false;  ///< hand back instead of finishing what runs
};
/// At least ten times a second.
struct Tick {};

using What = std::variant<WorkerExpected,
                          WorkerJoined,
                          WorkerReady,
                          WorkerFailed,
                          HeartbeatArrived,
                          ResultsArrived,
                          HandedBack,
                          WorkerBye,
                          WorkerGone,
                          InputRead,
                          InputEnded,
                          JournalPressed,
                          HelpExpected,
                          LeaveAsked,
                          StopAsked,
                          Tick>;

// What the shell must then do, in this order. The reactor itself only decides.

struct SendWelcome {
  WorkerId worker;
  bool operator==(const SendWelcome&) const = default;
};
struct SendWork {
  struct One {
    InvocationId id;
    i64 attempt = 1;
    bool operator==(const One&) const = default;
  };
  WorkerId worker;
  std::vector<One> invocations;
  bool operator==(const SendWork&) const = default;
};
struct SendLeave {
  WorkerId worker;
  bool now = false;
  bool operator==(const SendLeave&) const = default;
};
/// These answers count, and no other of the same requests ever will.
struct Record {
  WorkerId worker;
  std::vector<protocol::Result> results;
  bool operator==(const Record&) const = default;
};
/// The request was in flight in too many deaths: it is recorded as failed.
struct RecordFailure {
  InvocationId id;
  i64 attempts = 0;
  bool operator==(const RecordFailure&) const = default;
};
enum class Cause {
  left,           ///< as planned
  died,           ///< its process or its link is gone
  frozen,         ///< no heartbeat in time
  hung,           ///< heartbeats, but no step of the engine while work is held
  load_failed,    ///< it could not create its state
  load_too_long,  ///< its state was not ready in time
  device_failed,  ///< it lost its device
  never_joined,   ///< it never said Hello
  stayed,         ///< it was told to leave and did not
  confused,       ///< it sent what makes no sense
};
[[nodiscard]] const char* name_of(Cause cause);
/// Forget the worker; unless it left, make sure that its process is dead.
struct DropWorker {
  WorkerId worker;
  Cause cause = Cause::left;
  std::string reason;
  i64 n_returned = 0;  ///< invocations that it held
  bool operator==(const DropWorker&) const = default;
};
using Action = std::variant<SendWelcome, SendWork, SendLeave, Record, RecordFailure, DropWorker>;
using Actions = std::vector<Action>;

/// Decides who runs what, who is lost, and when the run is over. Pure: no MPI, no files, no clock,
/// no threads; the same events give the same actions. `now` of an event never goes back.
///
/// Invariants, after every event:
///  - an invocation is waiting, on exactly one worker, or recorded; recorded exactly once: late
///    results of a lost worker are dropped, and a worker id is never used again;
///  - no worker holds more than its slots;
///  - what a lost worker held waits at the front of the queue, in the order of the input.
///
/// Dispatch costs O(1) an invocation, whatever the number of workers. While much waits every worker
/// is filled to its slots; when less waits than is free, each gets a share in proportion to its
/// free slots, so that none sits idle beside a full one.
///
/// A request that was in flight in `attempts - 1` deaths is a suspect: it runs alone on its worker,
/// so that a poisonous request is found out without harm to those that happened to run beside it.
///
/// Phases: running → closing (everything recorded) or draining (asked to stop) → ended (no worker
/// left). A worker: expected → loading → ready → leaving → gone; gone from anywhere.
class Reactor {
 public:
  enum class Phase { running, draining, closing, ended };
  enum class WorkerState { expected, loading, ready, leaving, gone };

  Reactor(const Options& options, TimePoint start);

  [[nodiscard]] Actions on(What what, TimePoint now);
  /// Who gets what of what waits. Called once after a batch of events, so that one message carries
  /// all that a worker gets in a turn.
  [[nodiscard]] Actions dispatch(TimePoint now);

  [[nodiscard]] Phase phase() const { return phase_; }
  /// Whether more input should be read: below the memory bound, and nobody has asked to stop.
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
    std::uint32_t n_deaths = 0;
  };
  struct Worker {
    WorkerState state = WorkerState::gone;
    bool is_known = false;     // was ever expected or joined: the id is used up
    bool is_open = false;      // takes part in dispatch: its free slots are in n_free_
    bool is_listed = false;    // stands in ready_
    bool is_told_now = false;  // Leave{now} was sent
    i64 slots = 0;
    std::vector<InvocationId> held;
    TimePoint heard;     // last message of any kind
    TimePoint since;     // of the state it is in
    TimePoint leave_by;  // when it is leaving
    TimePoint moved;     // the step counter changed, a result came, or work came to an idle worker
    i64 n_steps = 0;
    Duration longest_step{};
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

  // The work (reactor.cpp).
  [[nodiscard]] Worker* heard_of(WorkerId id);
  [[nodiscard]] Worker& at(WorkerId id) { return workers_[static_cast<std::size_t>(id.value)]; }
  void take_from_worker(Invocation& invocation);
  void forget(InvocationId id, const Invocation& invocation);
  void queue_at_front(InvocationId id, const Invocation& invocation);
  [[nodiscard]] bool is_suspect(const Invocation& invocation) const;
  void give_back_all(Worker& worker, bool is_death, Actions& out);
  void open(WorkerId id);
  void close(WorkerId id);
  void send(WorkerId id, i64 n, std::deque<InvocationId>& from, Actions& out);
  void share_out(Actions& out);
  void try_suspects(Actions& out);
  [[nodiscard]] std::optional<WorkerId> pick_isolation() const;

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

  IdTable<Invocation> invocations_;  // all that are read and not recorded
  std::deque<InvocationId> waiting_;
  std::deque<InvocationId> suspects_;  // wait too, but may only run alone
  i64 queued_bytes_ = 0;

  std::vector<Worker> workers_;        // by WorkerId
  std::deque<WorkerId> ready_;         // open and free; those that no longer are get skipped
  std::optional<WorkerId> isolation_;  // runs suspects, one at a time; not open
  i64 n_free_ = 0;                     // free slots of all open workers
  i64 n_living_ = 0;
};

}  // namespace sticky::coordinator
