#pragma once

#include <string>
#include <vector>

#include "sticky/coordinator/coordinator_loop.hpp"
#include "sticky/coordinator/kept_invocations.hpp"
#include "sticky/coordinator/line_feed.hpp"
#include "sticky/coordinator/progress_table.hpp"
#include "sticky/coordinator/reactor.hpp"

namespace sticky::coordinator {

/// The shell around the reactor: turns messages into events and actions into messages, records and
/// kills. One thread; no thread of its own, so that a test can drive it with a manual clock.
class Coordinator {
 public:
  struct Texts {
    std::string worker_options_json;
    std::string state_name;
    i64 input_bytes_total = -1;
    i64 n_results_before = 0;
    i64 n_errors_before = 0;
  };
  /// Everything passed by reference outlives the coordinator.
  Coordinator(const Options& options,
              Texts texts,
              LineFeed& feed,
              const Surroundings& surroundings);

  /// One turn: reads, listens for at most `patience`, decides, acts. False once the run is over.
  [[nodiscard]] bool turn(Duration patience);
  /// The lock of the run folder is someone else's: nothing is written from now on.
  void lose_lock();
  /// After the last turn: tells every worker that it may end, and judges the run.
  [[nodiscard]] RunOutcome finish();
  /// Whether the processes of all workers that left are gone, as far as this host can tell.
  [[nodiscard]] bool has_everyone_ended();
  /// Kills those that have not, though they were told that they may end.
  void kill_stragglers();

  [[nodiscard]] Progress progress() const;
  [[nodiscard]] const Reactor& reactor() const { return reactor_; }

 private:
  struct Known {
    WorkerStatus status;
    protocol::ProcessName process;
    bool is_watched = false;
    bool has_left = false;
    bool has_ended = false;  // after it left
    TimePoint ready_since;
  };

  bool read_input();
  void record_bad_line(const io::InputLine& line);
  void warn_of(const OtherModel& other) const;
  void listen(Duration patience);
  void hear(protocol::PeerId from, protocol::Message& message);
  void hear_hello(protocol::PeerId from, WorkerId worker, protocol::Hello& hello);
  void hear_ready(WorkerId worker, protocol::StateReady& state);
  void look_around();
  void look_for_the_ended();
  void mind_journal();
  void welcome_newcomers();
  void mind_workforce();
  void let_go();
  [[nodiscard]] malleability::Situation situation() const;
  void tell(What what);
  void act(Actions actions);
  void act_on(SendWelcome& action);
  void act_on(SendWork& action);
  void act_on(SendTakeBack& action);
  void act_on(SendLeave& action);
  void act_on(Record& action);
  void act_on(RecordFailure& action);
  void act_on(DropWorker& action);
  void keep_progress(const protocol::HandBack& back);
  [[nodiscard]] i64 n_bytes_to_send(InvocationId id) const;
  void fence(const protocol::ProcessName& process);
  void append(bool is_error, std::string record);
  [[nodiscard]] double seconds_until(TimePoint when) const;
  [[nodiscard]] double seconds_so_far() const { return seconds_until(now_); }
  [[nodiscard]] Known& known(WorkerId worker);
  [[nodiscard]] Ending ending() const;
  void judge(RunOutcome& outcome) const;

  Options options_;
  Texts texts_;
  LineFeed& feed_;
  Surroundings around_;
  TimePoint start_;
  TimePoint now_;
  TimePoint next_tick_;
  TimePoint next_decision_;
  Reactor reactor_;
  Workforce workforce_;
  bool is_help_expected_ = false;
  struct Leaver {
    WorkerId worker;
    bool is_told = false;  // its farewell was sent
  };
  std::vector<Leaver> leavers_;
  KeptInvocations kept_;        // every unrecorded invocation
  ProgressTable progress_;      // of those among them that a worker handed back
  std::vector<Known> workers_;  // by WorkerId
  std::vector<Loss> losses_;
  Counts counts_;
  i64 prompt_tokens_ = 0;
  i64 completion_tokens_ = 0;
  i64 input_bytes_read_ = 0;
  bool has_input_ended_ = false;
  std::string input_failure_;
  std::string journal_failure_;
  bool is_lock_lost_ = false;
  bool is_journal_pressed_ = false;
  bool has_anyone_left_early_ = false;
};

}  // namespace sticky::coordinator
