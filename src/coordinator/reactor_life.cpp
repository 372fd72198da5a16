// When a worker is lost, how it leaves, and when the run is over.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sticky/coordinator/reactor.hpp"

namespace sticky::coordinator {

namespace {

using std::chrono::seconds;

// A launch starts all ranks together; what has not said Hello by then never will.
constexpr Duration kJoinTime = seconds(60);
// After the last word (Leave at the end of the run, or Leave{now}); a state that still loads cannot
// listen meanwhile.
constexpr Duration kLeaveTime = seconds(30);
// While a state loads the node's memory and file system are under pressure: heartbeats may be late.
constexpr i64 kLoadingPatience = 6;
// Ticks come ten times a second: a gap of this length means that this process was stopped.
constexpr Duration kPause = seconds(2);
constexpr i64 kStepPatience = 20;

Duration from_seconds(double value) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(value));
}

double to_seconds(Duration value) {
  return std::chrono::duration<double>(value).count();
}

}  // namespace

const char* name_of(Cause cause) {
  switch (cause) {
    case Cause::left:
      return "left";
    case Cause::preempted:
      return "preempted";
    case Cause::died:
      return "died";
    case Cause::frozen:
      return "frozen";
    case Cause::hung:
      return "hung";
    case Cause::load_failed:
      return "load_failed";
    case Cause::load_too_long:
      return "load_too_long";
    case Cause::device_failed:
      return "device_failed";
    case Cause::never_joined:
      return "never_joined";
    case Cause::stayed:
      return "stayed";
    case Cause::confused:
      return "confused";
  }
  return "unknown";
}

void Reactor::happens(Tick&, Actions& out) {
  const Duration gap = now_ - std::exchange(last_tick_, now_);
  if (gap > kPause) forgive_pause(gap);
  const Duration limit = from_seconds(options_.time_limit_seconds);
  if (limit > Duration{} && phase_ == Phase::running) {
    const Duration work = std::max(limit - from_seconds(options_.grace_seconds), limit / 2);
    if (now_ - start_ >= work) stop("the time limit is near", false, out);
  }
  for (i64 id = 0; id < static_cast<i64>(workers_.size()); ++id) {
    check_deadlines({id}, out);
    check_engine({id}, out);
  }
  weigh();
  balance(out);
}

// The whole job was stopped (SIGTSTP), or this process was: nobody is late because of that.
void Reactor::forgive_pause(Duration pause) {
  for (Worker& worker : workers_) {
    for (TimePoint* time : {&worker.heard, &worker.since, &worker.moved, &worker.asked_back})
      *time = std::min(*time + pause, now_);
    worker.leave_by += pause;
    worker.pace.forgive(pause, now_);
    for (Held& one : worker.held)
      one.since = std::min(one.since + pause, now_);
  }
}

void Reactor::check_deadlines(WorkerId id, Actions& out) {
  const Worker& worker = at(id);
  const Duration silence = now_ - worker.heard, age = now_ - worker.since;
  const Duration patience = from_seconds(options_.heartbeat_timeout_seconds);
  const bool is_loading = worker.slots == 0;
  switch (worker.state) {
    case WorkerState::gone:
      return;
    case WorkerState::expected:
      if (age > kJoinTime)
        drop(id, Cause::never_joined, fmt::format("no hello in {:.0f} s", to_seconds(age)), out);
      return;
    case WorkerState::leaving:
      if (now_ > worker.leave_by && !worker.is_told_now) {
        tell_to_leave(id, true, out);
      } else if (now_ > worker.leave_by) {
        drop(id, Cause::stayed, "it was told to leave and is still here", out);
        return;
      }
      break;
    case WorkerState::loading:
      if (age > from_seconds(options_.load_timeout_seconds)) {
        drop(id, Cause::load_too_long, fmt::format("no state after {:.0f} s", to_seconds(age)),
             out);
        return;
      }
      break;
    case WorkerState::joined:
    case WorkerState::ready:
      break;
  }
  if (silence > patience * (is_loading ? kLoadingPatience : 1))
    drop(id, Cause::frozen, fmt::format("no heartbeat for {:.1f} s", to_seconds(silence)), out);
}

void Reactor::check_engine(WorkerId id, Actions& out) {
  const Worker& worker = at(id);
  if (worker.state == WorkerState::gone || worker.n_free() == worker.slots) return;
  const Duration still = now_ - worker.moved;
  const Duration patience =
      std::max(from_seconds(options_.hang_seconds), kStepPatience * worker.longest_step);
  if (still > patience)
    drop(id, Cause::hung,
         fmt::format("it holds {} invocations and has made no step for {:.1f} s",
                     worker.held.size(), to_seconds(still)),
         out);
}

void Reactor::drop(WorkerId id, Cause cause, std::string reason, Actions& out) {
  Worker& worker = at(id);
  const bool has_said_bye = is_planned(cause);
  // It had said that it must go, and its system did not wait.
  if (worker.is_preempted && (cause == Cause::died || cause == Cause::frozen))
    cause = Cause::preempted;
  close(id);
  if (isolation_ == id) isolation_.reset();
  worker.state = WorkerState::gone;
  --n_living_;
  leave_host(worker);
  out.emplace_back(DropWorker{id, cause, std::move(reason), worker.n_held(), has_said_bye});
  give_back_all(id, cause, out);
  welcome_joined(out);
}

void Reactor::begin_leaving(WorkerId id) {
  Worker& worker = at(id);
  close(id);
  if (isolation_ == id) isolation_.reset();
  worker.state = WorkerState::leaving;
  worker.since = now_;
  worker.leave_by = now_ + from_seconds(options_.grace_seconds);
}

void Reactor::tell_to_leave(WorkerId id, bool now, Actions& out) {
  Worker& worker = at(id);
  if (worker.state != WorkerState::leaving) begin_leaving(id);
  if (now) worker.leave_by = now_ + kLeaveTime;
  worker.is_told = true;
  worker.is_told_now = worker.is_told_now || now;
  out.emplace_back(SendLeave{id, now});
}

void Reactor::tell_all_to_leave(bool now, Actions& out) {
  for (i64 id = 0; id < static_cast<i64>(workers_.size()); ++id) {
    const Worker& worker = at({id});
    if (worker.state != WorkerState::gone && !worker.is_told_now) tell_to_leave({id}, now, out);
  }
}

void Reactor::stop(std::string reason, bool at_once, Actions& out) {
  if (phase_ == Phase::running) {
    stop_reason_ = std::move(reason);
    phase_ = Phase::draining;
    tell_all_to_leave(at_once, out);
  } else if (at_once) {
    tell_all_to_leave(true, out);
  }
}

// After each event: is everything done, or is nobody left to do it?
void Reactor::settle(Actions& out) {
  if (phase_ == Phase::running && is_complete()) {
    phase_ = Phase::closing;
    // Nobody holds anything: there is nothing to finish, so this is the last word.
    tell_all_to_leave(true, out);
  }
  if (n_living_ > 0 || is_help_expected_) return;
  // Before the first has been heard of, unless all help that was to come did not.
  if (phase_ == Phase::running && workers_.empty() && !was_help_expected_) return;
  if (phase_ == Phase::running) {
    are_all_lost_ = true;
    stop_reason_ = "no worker is left";
  }
  phase_ = Phase::ended;
}

}  // namespace sticky::coordinator
