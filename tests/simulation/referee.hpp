#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sticky/coordinator/reactor.hpp"

namespace sticky::test {

/// Watches what a reactor hears and does, keeps books of its own – who was sent what and has not
/// answered – and reports, as test failures, everything that must not be. It shares nothing with
/// the reactor but its events and actions.
class Referee {
 public:
  explicit Referee(const coordinator::Options& options) : options_(options) {}

  /// Before the reactor hears of it.
  void see(const coordinator::What& event);
  /// What the last event seen, or dispatch, led to.
  void judge(const coordinator::Actions& actions);
  /// After dispatch: nobody idles beside work.
  void judge_idleness(const coordinator::Reactor& reactor);

  [[nodiscard]] bool is_recorded(i64 id) const { return ended_.contains(id); }
  [[nodiscard]] i64 n_recorded() const { return static_cast<i64>(ended_.size()); }

  i64 n_failures = 0;  ///< invocations recorded as failed
  i64 n_copies = 0;
  i64 n_races = 0;  ///< results that came first while another worker ran a copy
  i64 n_asked_back = 0;
  i64 n_taken_back = 0;
  i64 n_deaths = 0;
  i64 n_planned = 0;

 private:
  struct Worker {
    bool is_ready = false;
    bool is_gone = false;
    bool is_loading = false;
    bool is_leaving = false;      // told to, or said so
    bool may_be_planned = false;  // it said that it leaves
    bool is_asked_back = false;
    i64 slots = 0;
    std::string arithmetic;
    std::string host;
    std::set<i64> has;  // sent to it, neither answered nor handed back, as the coordinator knows
  };

  void see(const coordinator::ResultsArrived& event);
  void see(const coordinator::HandedBack& event);
  void do_one(const coordinator::SendWelcome& action);
  void do_one(const coordinator::SendWork& action);
  void do_one(const coordinator::SendTakeBack& action);
  void do_one(const coordinator::SendLeave& action);
  void do_one(const coordinator::Record& action);
  void do_one(const coordinator::RecordFailure& action);
  void do_one(const coordinator::DropWorker& action);
  void judge_one(i64 id, i64 attempt, i64 to, bool is_alone);
  void come_back(i64 id);
  [[nodiscard]] bool is_suspect(i64 id) const;
  [[nodiscard]] std::vector<i64> holders(i64 id) const;
  [[nodiscard]] i64 n_readers() const;

  coordinator::Options options_;
  std::map<i64, Worker> workers_;
  std::set<i64> read_;
  std::set<i64> ended_;
  std::map<i64, std::vector<coordinator::Cause>> deaths_;
  std::set<i64> sent_;  // ever
  i64 last_new_ = -1;   // the last id that was sent for the first time
  std::set<i64> copied_;
  std::set<i64> returned_;  // wait, and were sent before
  std::set<i64> expected_;  // ids whose results the last event brought and that must be recorded
  bool is_pressed_ = false;
};

}  // namespace sticky::test
