// How the coordinator lets workers come and go while the run goes on.
#include <chrono>
#include <utility>

#include "sticky/base/log.hpp"
#include "sticky/coordinator/coordinator.hpp"

namespace sticky::coordinator {

namespace {

using namespace std::chrono_literals;
using malleability::Situation;

constexpr Duration kDecisionInterval = 1s;
constexpr Duration kTickInterval = 100ms;  // nobody works

std::optional<Situation::State> state_for_policy(Reactor::WorkerState state) {
  switch (state) {
    case Reactor::WorkerState::expected:
      return Situation::State::joining;
    case Reactor::WorkerState::joined:
    case Reactor::WorkerState::loading:
      return Situation::State::loading;
    case Reactor::WorkerState::ready:
      return Situation::State::ready;
    case Reactor::WorkerState::leaving:
      return Situation::State::leaving;
    case Reactor::WorkerState::gone:
      break;
  }
  return std::nullopt;
}

}  // namespace

Situation Coordinator::situation() const {
  Situation situation;
  situation.now = now_;
  situation.n_waiting = reactor_.n_waiting();
  if (!has_input_ended_)
    situation.n_waiting += n_unread(counts_, input_bytes_read_, texts_.input_bytes_total);
  situation.n_held = reactor_.n_held();
  situation.has_input_ended = has_input_ended_;
  double ready_seconds = 0.0;
  i64 n_done = 0;
  for (const Known& who : workers_) {
    const WorkerId id = who.status.worker;
    const auto state = id.value < 0 ? std::nullopt : state_for_policy(reactor_.state_of(id));
    if (!state) continue;
    situation.workers.push_back(
        {.id = id, .host = {}, .state = *state, .n_held = reactor_.n_held_by(id)});
    if (who.status.n_results + who.status.n_errors == 0) continue;
    ready_seconds += std::chrono::duration<double>(now_ - who.ready_since).count();
    n_done += who.status.n_results + who.status.n_errors;
  }
  if (n_done > 0) situation.request_seconds = ready_seconds / static_cast<double>(n_done);
  return situation;
}

void Coordinator::welcome_newcomers() {
  Workforce::News news = workforce_.news(now_);
  for (const WorkerId newcomer : news.newcomers) {
    known(newcomer).status.joined_seconds = seconds_so_far();
    log::info("worker {} was started", newcomer.value);
    tell(WorkerExpected{newcomer});
  }
  if (!news.newcomers.empty() || !news.failures.empty()) next_decision_ = now_;
  for (std::string& failure : news.failures) {
    log::warning("a worker could not be started: {}", failure);
    losses_.push_back({.worker = {},
                       .cause = "spawn_failed",
                       .reason = std::move(failure),
                       .at_seconds = seconds_so_far(),
                       .n_returned = 0});
  }
}

void Coordinator::mind_workforce() {
  welcome_newcomers();
  const bool is_running = reactor_.phase() == Reactor::Phase::running;
  if (is_running && now_ >= next_decision_) {
    const Situation present = situation();
    next_decision_ = now_ + (present.workers.empty() ? kTickInterval : kDecisionInterval);
    for (const WorkerId worker : workforce_.decide(present)) {
      log::info("worker {} is told to leave", worker.value);
      tell(LeaveAsked{.worker = worker, .at_once = true});
    }
  }
  // Whoever gave an order waits for the answer.
  if (!is_running && now_ >= next_decision_) {
    next_decision_ = now_ + kDecisionInterval;
    workforce_.refuse_orders("the run is about to end: no worker comes or goes by order any more");
  }
  const bool is_expected =
      is_running ? workforce_.is_help_expected() : workforce_.is_anyone_under_way();
  if (std::exchange(is_help_expected_, is_expected) != is_expected) tell(HelpExpected{is_expected});
}

// Who left while the run goes on. It ends when it hears the farewell, and no process may end while
// another one is being spawned. Once the farewell is on the way its link is of no more use.
void Coordinator::let_go() {
  const bool is_anyone_coming = workforce_.is_anyone_under_way();
  std::erase_if(leavers_, [&](Leaver& leaver) {
    const protocol::PeerId peer{leaver.worker.value};
    if (!leaver.is_told && !is_anyone_coming) {
      leaver.is_told = true;
      around_.transport.send(peer, protocol::Farewell{false});
    }
    if (!leaver.is_told || around_.transport.unsent_bytes(peer) > 0) return false;
    around_.transport.forget(peer);
    return true;
  });
}

}  // namespace sticky::coordinator
