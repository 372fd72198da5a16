// The work: who holds what, what waits, who gets it. reactor_events.cpp says what each event means,
// reactor_life.cpp when a worker is lost and when the run is over, reactor_loading.cpp who may
// load, reactor_balance.cpp what is a fair share and what happens when nothing waits any more.
#include "sticky/coordinator/reactor.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "sticky/base/check.hpp"

namespace sticky::coordinator {

namespace {
// Results that the mean turnaround looks back on.
constexpr double kTurnaroundWindow = 64.0;
// Invocations that wait are read ahead as far as this, or as often what all workers hold at once.
// More would only fill memory: what is not read yet waits in its file.
constexpr i64 kAhead = 4096;
constexpr i64 kAheadPerSlot = 2;
}  // namespace

Reactor::Reactor(const Options& options, TimePoint start)
    : options_(options),
      start_(start),
      now_(start),
      last_tick_(start) {}

Actions Reactor::on(What what, TimePoint now) {
  STICKY_ASSERT(now >= now_);
  now_ = now;
  Actions out;
  if (phase_ == Phase::ended) return out;
  std::visit([&](auto& event) { happens(event, out); }, what);
  settle(out);
  return out;
}

Actions Reactor::dispatch(TimePoint now) {
  now_ = now;
  Actions out;
  if (phase_ != Phase::running || is_journal_pressed_) return out;
  if (!suspects_.empty() || isolation_) try_suspects(out);
  share_out(out);
  return out;
}

bool Reactor::wants_input() const {
  return phase_ == Phase::running && !has_input_ended_ && !is_journal_pressed_ &&
         queued_bytes_ < options_.max_queued_bytes &&
         n_waiting() < std::max(kAhead, kAheadPerSlot * n_slots_);
}

bool Reactor::is_complete() const {
  return has_input_ended_ && invocations_.size() == 0;
}

i64 Reactor::n_waiting() const {
  return static_cast<i64>(waiting_.size() + suspects_.size());
}

Reactor::WorkerState Reactor::state_of(WorkerId worker) const {
  const auto at = static_cast<std::size_t>(worker.value);
  return at < workers_.size() ? workers_[at].state : WorkerState::gone;
}

i64 Reactor::n_held_by(WorkerId worker) const {
  const auto at = static_cast<std::size_t>(worker.value);
  return at < workers_.size() ? static_cast<i64>(workers_[at].held.size()) : 0;
}

// The worker, which has just shown that it lives; null for one that is gone or never was.
Reactor::Worker* Reactor::heard_of(WorkerId id) {
  if (state_of(id) == WorkerState::gone) return nullptr;
  Worker& worker = at(id);
  worker.heard = now_;
  return &worker;
}

bool Reactor::holds(WorkerId id, InvocationId what, const Invocation& invocation) const {
  if (invocation.worker == id.value) return true;
  return invocation.is_copied && copies_.at(what).worker == id.value;
}

// A place among what the worker holds.
i32 Reactor::seat(InvocationId what, Worker& worker) {
  if (worker.held.empty()) {
    worker.moved = now_;
    worker.pace.begin(now_);
  }
  worker.held.push_back({what, now_});
  if (worker.is_open) --n_free_;
  return static_cast<i32>(worker.held.size() - 1);
}

// The worker holds it no longer; another one that does goes on with it. Gives when it got it. The
// last one held takes the free place: order within `held` means nothing.
TimePoint Reactor::release(InvocationId what, Invocation& invocation, WorkerId id) {
  i32 place = invocation.place;
  if (invocation.is_copied) {
    const auto copy = copies_.find(what);
    if (invocation.worker == id.value) {
      invocation.worker = copy->second.worker;
      invocation.place = copy->second.place;
    } else {
      place = copy->second.place;
    }
    invocation.is_copied = false;
    copies_.erase(copy);
  } else {
    invocation.worker = kNobody;
  }
  Worker& worker = at(id);
  Held& free = worker.held[static_cast<std::size_t>(place)];
  const TimePoint since = std::exchange(free, worker.held.back()).since;
  if (free.id != what) {
    Invocation& moved = *invocations_.find(free.id);
    (moved.worker == id.value ? moved.place : copies_.at(free.id).place) = place;
  }
  worker.held.pop_back();
  if (worker.is_open) ++n_free_;
  return since;
}

// Whether a worker's answer counts: only to what it holds now, not to an id that it never held,
// lost, or has answered already.
bool Reactor::accept(WorkerId id, InvocationId what) {
  Invocation* invocation = invocations_.find(what);
  if (invocation == nullptr || !holds(id, what, *invocation)) {
    end_race(at(id), what);
    return false;
  }
  const Duration took = now_ - release(what, *invocation, id);
  const double seconds = std::chrono::duration<double>(took).count();
  turnaround_seconds_ +=
      turnaround_seconds_ > 0.0 ? (seconds - turnaround_seconds_) / kTurnaroundWindow : seconds;
  if (invocation->worker != kNobody) lose_race(what, *invocation);
  forget(what, *invocation);
  return true;
}

// Whoever still runs it does so for nothing, and is busy with it until its answer comes.
void Reactor::lose_race(InvocationId what, Invocation& invocation) {
  const WorkerId loser{invocation.worker};
  (void)release(what, invocation, loser);
  at(loser).late.push_back(what);
  if (at(loser).is_open) --n_free_;
}

void Reactor::end_race(Worker& worker, InvocationId what) {
  if (worker.late.empty() || std::erase(worker.late, what) == 0) return;
  if (worker.is_open) ++n_free_;
}

void Reactor::forget(InvocationId id, const Invocation& invocation) {
  queued_bytes_ -= invocation.n_bytes;
  if (invocation.n_deaths > 0) deaths_.erase(id);
  invocations_.erase(id);
}

bool Reactor::is_suspect(const Invocation& invocation) const {
  return invocation.n_deaths > 0 && invocation.n_deaths + 1 >= options_.attempts;
}

void Reactor::queue_at_front(InvocationId id, Invocation& invocation) {
  invocation.was_copied = false;
  (is_suspect(invocation) ? suspects_ : waiting_).push_front(id);
}

// Everything that a worker alone holds goes back to the front of the queue, in the order of the
// input. It is closed.
void Reactor::give_back_all(WorkerId id, Cause cause, Actions& out) {
  std::vector<Held> held = at(id).held;
  at(id).late.clear();
  std::ranges::sort(held, std::greater{}, &Held::id);
  for (const Held& one : held) {
    Invocation& invocation = *invocations_.find(one.id);
    (void)release(one.id, invocation, id);
    if (!is_planned(cause)) {
      ++invocation.n_deaths;
      deaths_[one.id].push_back(cause);
    }
    if (invocation.worker != kNobody) continue;
    if (invocation.n_deaths >= std::max<i64>(options_.attempts, 1)) {
      out.emplace_back(RecordFailure{one.id, deaths_.at(one.id)});
      forget(one.id, invocation);
    } else {
      queue_at_front(one.id, invocation);
    }
  }
}

// From now on the worker takes part in dispatch.
void Reactor::open(WorkerId id) {
  Worker& worker = at(id);
  if (!worker.is_open) {
    worker.is_open = true;
    worker.weight = weight_of(worker);
    n_free_ += worker.n_free();
    n_slots_ += worker.slots;
    weight_ += worker.weight;
  }
  if (!worker.is_listed && worker.n_free() > 0) {
    worker.is_listed = true;
    ready_.push_back(id);
  }
}

void Reactor::close(WorkerId id) {
  Worker& worker = at(id);
  if (!std::exchange(worker.is_open, false)) return;
  n_free_ -= worker.n_free();
  n_slots_ -= worker.slots;
  weight_ -= worker.weight;
}

// The first n of a queue go to the worker, in messages of at most options_.batch.
void Reactor::send(WorkerId id, i64 n, std::deque<InvocationId>& from, Actions& out) {
  Worker& worker = at(id);
  const i64 batch = options_.batch > 0 ? options_.batch : n;
  while (n > 0) {
    SendWork work{id, {}};
    const i64 n_now = std::min(n, batch);
    work.invocations.reserve(static_cast<std::size_t>(n_now));
    for (i64 k = 0; k < n_now; ++k) {
      const InvocationId next = from.front();
      from.pop_front();
      Invocation& invocation = *invocations_.find(next);
      invocation.worker = static_cast<i32>(id.value);
      invocation.place = seat(next, worker);
      work.invocations.push_back({next, 1 + invocation.n_deaths});
    }
    n -= n_now;
    out.emplace_back(std::move(work));
  }
}

// One round over the workers that have free slots; each is filled up to its share of what is in
// reach of all that come after it: all of it is given out, except what a full worker will finish
// sooner than anyone else could. While anything waits there is a worker that is full or below its
// share, and one that holds nothing is always below. Whoever has its share already is not looked at
// again before its next result or the next tick, so that it costs nothing either.
void Reactor::share_out(Actions& out) {
  i64 n_in_reach = static_cast<i64>(waiting_.size()) + n_slots_ - n_free_;
  double weight = weight_;
  i64 n_to_visit = static_cast<i64>(ready_.size());
  for (; n_to_visit > 0 && !waiting_.empty(); --n_to_visit) {
    const WorkerId id = ready_.front();
    ready_.pop_front();
    Worker& worker = at(id);
    worker.is_listed = false;
    if (!worker.is_open || worker.n_free() <= 0) continue;
    const i64 share = share_of(worker, n_in_reach, weight);
    const i64 n =
        std::min({share - worker.n_held(), worker.n_free(), static_cast<i64>(waiting_.size())});
    if (n > 0) {
      send(id, n, waiting_, out);
      open(id);
    } else {
      at_share_.push_back(id);
    }
    n_in_reach -= std::max(share, worker.n_held());
    weight -= worker.weight;
  }
}

// A suspect gets a worker of its own: one that is emptied first, then runs suspects one by one.
void Reactor::try_suspects(Actions& out) {
  if (!isolation_) {
    isolation_ = pick_isolation();
    if (!isolation_) return;
    close(*isolation_);
  }
  if (const Worker& worker = at(*isolation_); worker.n_free() < worker.slots) return;
  if (!suspects_.empty()) {
    send(*isolation_, 1, suspects_, out);
  } else {
    open(*std::exchange(isolation_, std::nullopt));
  }
}

// The open worker that holds least: it is empty soonest. Rare, so a walk over all of them will do.
std::optional<WorkerId> Reactor::pick_isolation() const {
  std::optional<WorkerId> best;
  for (i64 k = 0; k < static_cast<i64>(workers_.size()); ++k) {
    if (!workers_[static_cast<std::size_t>(k)].is_open) continue;
    if (!best || n_held_by({k}) < n_held_by(*best)) best = WorkerId{k};
  }
  return best;
}

}  // namespace sticky::coordinator
