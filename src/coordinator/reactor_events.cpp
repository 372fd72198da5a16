// What each event means. Every event of a worker that is gone means nothing: its id is never used
// again, so whatever still comes of it is late.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sticky/coordinator/reactor.hpp"

namespace sticky::coordinator {

namespace {
// What a worker may announce: more could only be a mistake, and would starve all others.
constexpr i64 kMaxSlots = 1 << 20;
// Worker ids are ranks and what joins later; they index a table.
constexpr i64 kMaxWorkers = 1 << 24;
}  // namespace

void Reactor::happens(WorkerExpected& e, Actions& out) {
  STICKY_CHECK(e.worker.value >= 0 && e.worker.value < kMaxWorkers);
  const auto place = static_cast<std::size_t>(e.worker.value);
  if (place >= workers_.size()) workers_.resize(place + 1);
  Worker& worker = at(e.worker);
  if (worker.is_known) return;
  worker.is_known = true;
  worker.state = WorkerState::expected;
  worker.heard = worker.since = worker.moved = now_;
  ++n_living_;
  if (phase_ != Phase::running) tell_to_leave(e.worker, true, out);
}

void Reactor::happens(WorkerJoined& e, Actions& out) {
  WorkerExpected first{e.worker};
  happens(first, out);
  Worker* worker = heard_of(e.worker);
  if (worker == nullptr || worker->state == WorkerState::leaving) return;
  if (worker->state != WorkerState::expected) {
    drop(e.worker, Cause::confused, "it said hello twice", out);
    return;
  }
  worker->state = WorkerState::joined;
  worker->since = now_;
  worker->host = host_named(e.host);
  joined_.push_back(e.worker);
  welcome_joined(out);
}

void Reactor::happens(WorkerReady& e, Actions& out) {
  Worker* worker = heard_of(e.worker);
  if (worker == nullptr || worker->state == WorkerState::leaving) return;
  if (worker->state != WorkerState::loading || e.slots < 1 || e.slots > kMaxSlots) {
    drop(e.worker, Cause::confused,
         fmt::format("it announced a ready state with {} slots at the wrong time or out of range",
                     e.slots),
         out);
    return;
  }
  worker->state = WorkerState::ready;
  worker->since = worker->moved = now_;
  worker->slots = e.slots;
  worker->arithmetic = std::move(e.arithmetic);
  count_ready(*worker);
  open(e.worker);
  welcome_joined(out);
}

void Reactor::happens(WorkerFailed& e, Actions& out) {
  const Worker* worker = heard_of(e.worker);
  if (worker == nullptr) return;
  const bool was_ready = worker->slots > 0;
  drop(e.worker, was_ready ? Cause::device_failed : Cause::load_failed, std::move(e.reason), out);
}

void Reactor::happens(HeartbeatArrived& e, Actions&) {
  Worker* worker = heard_of(e.worker);
  if (worker == nullptr || e.n_steps == worker->n_steps) return;
  if (!worker->held.empty())
    worker->longest_step = std::max(worker->longest_step, now_ - worker->moved);
  worker->n_steps = e.n_steps;
  worker->moved = now_;
}

void Reactor::happens(ResultsArrived& e, Actions& out) {
  Worker* worker = heard_of(e.worker);
  if (worker == nullptr) return;
  worker->moved = now_;
  const i64 n_held = worker->n_held();
  std::erase_if(e.results, [&](const protocol::Result& r) { return !accept(e.worker, r.id); });
  if (worker->is_open) open(e.worker);
  if (e.results.empty()) return;
  worker->pace.note(static_cast<i64>(e.results.size()), n_held, worker->slots, now_);
  out.emplace_back(Record{e.worker, std::move(e.results)});
}

void Reactor::happens(HandedBack& e, Actions&) {
  Worker* worker = heard_of(e.worker);
  if (worker == nullptr) return;
  std::ranges::sort(e.ids, std::greater{});
  for (const InvocationId id : e.ids) {
    Invocation* invocation = invocations_.find(id);
    if (invocation == nullptr || !holds(e.worker, id, *invocation)) {
      end_race(*worker, id);
      continue;
    }
    (void)release(id, *invocation, e.worker);
    if (invocation->worker == kNobody) queue_at_front(id, *invocation);
  }
  if (e.reason == protocol::HandBack::Reason::taken_back) {
    worker->is_asked_back = false;
    if (worker->is_open) open(e.worker);
    return;
  }
  // It leaves of its own will: what it gave must not come straight back.
  if (!worker->is_told) worker->is_preempted = true;
  if (worker->state != WorkerState::leaving) begin_leaving(e.worker);
}

void Reactor::happens(WorkerBye& e, Actions& out) {
  const Worker* worker = heard_of(e.worker);
  if (worker == nullptr) return;
  const bool is_its_will = worker->is_preempted || !worker->is_told;
  drop(e.worker, is_its_will ? Cause::preempted : Cause::left, std::move(e.reason), out);
}

void Reactor::happens(WorkerGone& e, Actions& out) {
  if (heard_of(e.worker) != nullptr) drop(e.worker, Cause::died, std::move(e.reason), out);
}

void Reactor::happens(InputRead& e, Actions&) {
  for (const InputRead::Line& line : e.lines) {
    invocations_.insert(line.id).n_bytes = static_cast<std::uint32_t>(line.n_bytes);
    queued_bytes_ += static_cast<std::uint32_t>(line.n_bytes);
    waiting_.push_back(line.id);
  }
}

void Reactor::happens(InputEnded&, Actions&) {
  has_input_ended_ = true;
}

void Reactor::happens(JournalPressed& e, Actions&) {
  is_journal_pressed_ = e.is_pressed;
}

void Reactor::happens(HelpExpected& e, Actions&) {
  is_help_expected_ = e.is_expected;
  was_help_expected_ = was_help_expected_ || e.is_expected;
}

void Reactor::happens(LeaveAsked& e, Actions& out) {
  const WorkerState state = state_of(e.worker);
  if (state == WorkerState::gone || at(e.worker).is_told_now) return;
  if (state == WorkerState::leaving && !e.at_once) return;
  tell_to_leave(e.worker, e.at_once, out);
}

void Reactor::happens(StopAsked& e, Actions& out) {
  stop(std::move(e.reason), e.at_once, out);
}

}  // namespace sticky::coordinator
