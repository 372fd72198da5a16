#include "tests/simulation/reactor_world.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sticky::test {

using namespace coordinator;
using Reason = protocol::HandBack::Reason;

ReactorWorld::ReactorWorld(const Plot& plot, unsigned seed)
    : plot_(plot),
      random_(seed),
      reactor_(plot.options, TimePoint{}),
      referee_(plot.options) {
  for (const Life& life : plot.lives) {
    Worker& worker = workers_.emplace_back();
    worker.life = life;
    worker.id = {static_cast<i64>(workers_.size())};
    if (life.is_expected) tell(WorkerExpected{worker.id});
    is_help_expected_ = is_help_expected_ || !life.is_expected;
  }
  tell(HelpExpected{is_help_expected_});
}

bool ReactorWorld::play(double patience_seconds) {
  while (reactor_.phase() != Reactor::Phase::ended && !testing::Test::HasFailure()) {
    turn();
    if (now_ > patience_seconds) return false;
  }
  return true;
}

double ReactorWorld::any(double low, double high) {
  // Not std::uniform_real_distribution, whose numbers differ between libraries.
  return low + (high - low) * static_cast<double>(random_()) / 4294967296.0;
}

TimePoint ReactorWorld::clock() const {
  return TimePoint{} +
         std::chrono::duration_cast<Duration>(std::chrono::duration<double>(now_ + paused_));
}

void ReactorWorld::turn() {
  now_ += any(0.001, plot_.longest_turn);
  if (!plot_.pauses_at.empty() && now_ >= plot_.pauses_at.front()) {
    plot_.pauses_at.erase(plot_.pauses_at.begin());
    paused_ += 60.0;
    tell(Tick{});  // before anything else: the clock is looked at when the process goes on
  }
  for (Worker& worker : workers_)
    act(worker);
  read_lines();
  give_orders();
  for (Worker& worker : workers_)
    deliver(worker);
  if (now_ >= next_tick_) {
    next_tick_ = now_ + 0.1;
    tell(Tick{});
  }
  const Actions actions = reactor_.dispatch(clock());
  reactor_.check();
  referee_.judge(actions);
  referee_.judge_idleness(reactor_);
  obey(actions);
}

void ReactorWorld::tell(What what) {
  referee_.see(what);
  const Actions actions = reactor_.on(std::move(what), clock());
  reactor_.check();
  referee_.judge(actions);
  obey(actions);
}

void ReactorWorld::obey(const Actions& actions) {
  const auto order = [&](const auto& action) {
    auto& line = workers_[static_cast<std::size_t>(action.worker.value - 1)].orders;
    const double earliest = line.empty() ? 0.0 : line.back().at;
    line.push_back(
        {std::max(earliest, now_ + any(0.0, plot_.longest_delay * (chance(0.1) ? 1.0 : 0.02))),
         action});
  };
  for (const Action& action : actions) {
    if (const auto* welcome = std::get_if<SendWelcome>(&action)) order(*welcome);
    if (const auto* work = std::get_if<SendWork>(&action)) order(*work);
    if (const auto* wish = std::get_if<SendTakeBack>(&action)) order(*wish);
    if (const auto* leave = std::get_if<SendLeave>(&action)) order(*leave);
    if (const auto* drop = std::get_if<DropWorker>(&action); drop && !drop->has_said_bye) {
      // The fence reaches most of them.
      Worker& worker = workers_[static_cast<std::size_t>(drop->worker.value - 1)];
      worker.is_dead = worker.is_dead || chance(0.8);
    }
  }
}

void ReactorWorld::read_lines() {
  if (has_input_ended_ || !reactor_.wants_input() || !chance(plot_.reading)) return;
  InputRead event;
  for (i64 n = static_cast<i64>(any(0.0, 40.0)); n > 0 && n_read_ < plot_.n_requests; --n)
    event.lines.push_back({{n_read_++}, 100});
  if (!event.lines.empty()) tell(std::move(event));
  if (n_read_ < plot_.n_requests) return;
  has_input_ended_ = true;
  tell(InputEnded{});
}

void ReactorWorld::give_orders() {
  if (plot_.has_pressure && chance(0.1)) tell(JournalPressed{chance(0.4)});
  if (is_due(plot_.stop_at)) {
    plot_.stop_at = -1.0;
    tell(StopAsked{"asked", plot_.stops_at_once});
  }
  bool is_help_expected = false;
  for (Worker& worker : workers_) {
    if (is_due(worker.life.leave_asked_at)) {
      worker.life.leave_asked_at = -1.0;
      tell(LeaveAsked{worker.id, worker.life.leaves_at_once});
    }
    // Until its hello should have arrived.
    if (!worker.life.is_expected && now_ < worker.life.hello_at + 3.0) is_help_expected = true;
  }
  if (is_help_expected != is_help_expected_)
    tell(HelpExpected{is_help_expected_ = is_help_expected});
}

void ReactorWorld::deliver(Worker& worker) {
  while (!worker.words.empty() && worker.words.front().at <= now_) {
    What what = std::move(worker.words.front().what);
    worker.words.pop_front();
    tell(std::move(what));
  }
  if (!worker.is_loss_due || !worker.words.empty()) return;
  worker.is_loss_due = false;
  if (worker.life.is_death_reported) tell(WorkerGone{worker.id, "its process has ended"});
}

void ReactorWorld::say(Worker& worker, What what, double late) {
  const double earliest = worker.words.empty() ? 0.0 : worker.words.back().at;
  const double takes = late + any(0.0, plot_.longest_delay * (chance(0.1) ? 1.0 : 0.02));
  worker.words.push_back({std::max(earliest, now_ + takes), std::move(what)});
}

void ReactorWorld::say_back(Worker& worker, Reason reason, std::vector<InvocationId> ids) {
  const bool is_doubled = chance(worker.life.doubles);
  const double late = reason == Reason::taken_back ? worker.life.answers_late : 0.0;
  for (int k = 0; k < (is_doubled ? 2 : 1); ++k)
    say(worker, HandedBack{worker.id, ids, reason}, late);
}

void ReactorWorld::act(Worker& worker) {
  const Life& life = worker.life;
  if (worker.is_dead || worker.has_said_bye || now_ < life.hello_at) return;
  if (is_due(life.freezes_at) && !is_due(life.thaws_at)) {
    if (is_due(life.dies_at)) die(worker);
    return;
  }
  if (!std::exchange(worker.has_said_hello, true)) say(worker, WorkerJoined{worker.id, life.host});
  if (now_ >= worker.next_beat) {
    worker.next_beat = now_ + 1.0;
    say(worker, HeartbeatArrived{worker.id, worker.n_steps});
  }
  follow_fate(worker);
  if (worker.is_dead || is_due(life.hangs_at)) return;
  while (!worker.orders.empty() && worker.orders.front().at <= now_ && !worker.has_said_bye) {
    const Order order = std::move(worker.orders.front().what);
    worker.orders.pop_front();
    hear(worker, order);
  }
  if (is_due(worker.ready_at) && !std::exchange(worker.is_ready, true))
    say(worker, WorkerReady{worker.id, life.slots, life.arithmetic});
  if (!worker.has_said_bye) work(worker);
}

void ReactorWorld::follow_fate(Worker& worker) {
  if (is_due(worker.life.dies_at)) die(worker);
  if (is_due(worker.life.signalled_at)) {
    if (worker.life.killed_after >= 0.0)
      worker.life.dies_at = worker.life.signalled_at + worker.life.killed_after;
    worker.life.signalled_at = -1.0;
    worker.is_leaving = true;
    say_back(worker, Reason::leaving, {});
  }
}

void ReactorWorld::die(Worker& worker) {
  worker.is_dead = worker.is_loss_due = true;
}

void ReactorWorld::hear(Worker& worker, const Order& order) {
  if (std::holds_alternative<SendWelcome>(order)) {
    worker.ready_at = now_ + worker.life.load_time;
  } else if (const auto* work = std::get_if<SendWork>(&order)) {
    std::vector<InvocationId> refused;
    for (const SendWork::One& one : work->invocations) {
      if (worker.is_leaving)
        refused.push_back(one.id);
      else
        worker.queue.push_back(one.id.value);
    }
    if (!refused.empty()) say_back(worker, Reason::refused, std::move(refused));
  } else if (const auto* wish = std::get_if<SendTakeBack>(&order)) {
    take_back(worker, *wish);
  } else {
    leave(worker, std::get<SendLeave>(order).now);
  }
}

void ReactorWorld::take_back(Worker& worker, const SendTakeBack& wish) {
  std::vector<InvocationId> ids;
  for (const InvocationId id : wish.ids) {
    const auto place = std::ranges::find(worker.queue, id.value);
    if (place == worker.queue.end() || !chance(worker.life.gives_back)) continue;
    worker.queue.erase(place);
    ids.push_back(id);
  }
  say_back(worker, Reason::taken_back, std::move(ids));
}

void ReactorWorld::leave(Worker& worker, bool at_once) {
  worker.is_leaving = true;
  if (!at_once) return;
  std::vector<InvocationId> ids;
  for (const i64 id : std::exchange(worker.queue, {}))
    ids.push_back({id});
  for (const Run& run : std::exchange(worker.running, {}))
    ids.push_back({run.id});
  if (!ids.empty()) say_back(worker, Reason::leaving, std::move(ids));
}

void ReactorWorld::work(Worker& worker) {
  const Life& life = worker.life;
  if (!worker.running.empty()) ++worker.n_steps;
  ResultsArrived event{worker.id, {}};
  for (const Run& run : worker.running) {
    if (run.done_at > now_) continue;
    if (plot_.poison.contains(run.id)) return die(worker);  // with it go the answers of this step
    event.results.push_back({.id = {run.id}, .is_error = false, .record = "answered"});
  }
  std::erase_if(worker.running, [&](const Run& run) { return run.done_at <= now_; });
  while (static_cast<i64>(worker.running.size()) < life.width && !worker.queue.empty()) {
    const double takes = life.run_time * any(0.5, 1.5) * (chance(life.slow_runs) ? 30.0 : 1.0);
    worker.running.push_back({worker.queue.front(), now_ + takes});
    worker.queue.pop_front();
  }
  if (!event.results.empty()) {
    const bool is_doubled = chance(life.doubles);
    for (int k = 0; k < (is_doubled ? 2 : 1); ++k)
      say(worker, event);
    // What may wait, be recorded, or run elsewhere at that moment.
    const i64 other = static_cast<i64>(any(0.0, static_cast<double>(plot_.n_requests)));
    if (chance(life.lies)) {
      const protocol::Result lie{.id = {other}, .is_error = false, .record = "a lie"};
      say(worker, ResultsArrived{worker.id, {lie}});
    }
  }
  if (worker.is_leaving && worker.queue.empty() && worker.running.empty()) {
    worker.has_said_bye = true;
    say(worker, WorkerBye{worker.id, "leaves"});
  }
}

}  // namespace sticky::test
