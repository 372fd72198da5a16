#pragma once

#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sticky/coordinator/reactor.hpp"
#include "tests/simulation/referee.hpp"

namespace sticky::test {

/// What happens to one worker. Times in seconds since the start; a negative one: never.
struct Life {
  double hello_at = 0.0;
  bool is_expected = true;  ///< of the launch: the coordinator knows of it from the start
  std::string host = "h";
  std::string arithmetic = "a";
  double load_time = 1.0;
  i64 slots = 4;
  i64 width = 2;           ///< invocations that run at once
  double run_time = 0.1;   ///< of one invocation, on average
  double slow_runs = 0.0;  ///< share of runs that take 30 times that
  double dies_at = -1.0;
  double freezes_at = -1.0;
  double thaws_at = -1.0;
  double hangs_at = -1.0;
  double signalled_at = -1.0;    ///< its system wants it gone: it says so
  double killed_after = -1.0;    ///< and does not wait longer than this
  double leave_asked_at = -1.0;  ///< by order, of the coordinator
  bool leaves_at_once = false;
  bool is_death_reported = true;
  double doubles = 0.0;       ///< share of results and hand-backs that arrive twice
  double lies = 0.0;          ///< share of results after which comes one that nobody asked for
  double gives_back = 1.0;    ///< share that it gives of what it could give back
  double answers_late = 0.0;  ///< seconds that a HandBack takes longer, and all after it
};

struct Plot {
  coordinator::Options options;
  i64 n_requests = 0;
  std::vector<Life> lives;
  std::set<i64> poison;  ///< requests that kill every worker that runs them
  double stop_at = -1.0;
  bool stops_at_once = false;
  std::vector<double> pauses_at;  ///< the whole job is stopped for a minute
  bool has_pressure = false;
  double reading = 1.0;  ///< share of the turns in which lines come
  double longest_turn = 0.1;
  double longest_delay = 1.0;  ///< of one message in ten; the others take a fiftieth
};

/// Plays a plot with a reactor of its own and time that is only simulated, and has the referee look
/// at every event and every action. Messages of one link keep their order and take a random while.
class ReactorWorld {
 public:
  ReactorWorld(const Plot& plot, unsigned seed);
  /// To the end of the run, or of patience: then false.
  bool play(double patience_seconds);

  [[nodiscard]] const coordinator::Reactor& reactor() const { return reactor_; }
  [[nodiscard]] const Referee& referee() const { return referee_; }
  [[nodiscard]] double seconds() const { return now_; }

 private:
  using Order = std::variant<coordinator::SendWelcome,
                             coordinator::SendWork,
                             coordinator::SendTakeBack,
                             coordinator::SendLeave>;
  template <class T>
  struct Letter {
    double at;
    T what;
  };
  struct Run {
    i64 id;
    double done_at;
  };
  struct Worker {
    Life life;
    WorkerId id;
    bool is_dead = false;
    bool has_said_hello = false;
    bool has_said_bye = false;
    bool is_leaving = false;
    bool is_loss_due = false;
    double ready_at = -1.0;
    bool is_ready = false;
    double next_beat = 0.0;
    i64 n_steps = 0;
    std::deque<i64> queue;
    std::vector<Run> running;
    std::deque<Letter<Order>> orders;
    std::deque<Letter<coordinator::What>> words;
  };

  void turn();
  void tell(coordinator::What what);
  void obey(const coordinator::Actions& actions);
  void read_lines();
  void give_orders();
  void deliver(Worker& worker);
  void act(Worker& worker);
  void hear(Worker& worker, const Order& order);
  void follow_fate(Worker& worker);
  void work(Worker& worker);
  void die(Worker& worker);
  void take_back(Worker& worker, const coordinator::SendTakeBack& wish);
  void leave(Worker& worker, bool at_once);
  void say(Worker& worker, coordinator::What what, double late = 0.0);
  void say_back(Worker& worker, protocol::HandBack::Reason reason, std::vector<InvocationId> ids);
  [[nodiscard]] bool is_due(double at) const { return at >= 0.0 && now_ >= at; }
  [[nodiscard]] double any(double low, double high);
  [[nodiscard]] bool chance(double probability) { return any(0.0, 1.0) < probability; }
  [[nodiscard]] TimePoint clock() const;

  Plot plot_;
  std::mt19937 random_;
  double now_ = 0.0;
  double paused_ = 0.0;  // the coordinator's clock is ahead by this: all stood still meanwhile
  double next_tick_ = 0.0;
  i64 n_read_ = 0;
  bool has_input_ended_ = false;
  bool is_help_expected_ = false;
  coordinator::Reactor reactor_;
  Referee referee_;
  std::vector<Worker> workers_;
};

}  // namespace sticky::test
