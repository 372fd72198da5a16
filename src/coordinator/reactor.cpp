// The work: who holds what, what waits, who gets it. reactor_events.cpp says what each event means,
// reactor_life.cpp when a worker is lost and when the run is over.
#include "sticky/coordinator/reactor.hpp"

#include <algorithm>
#include <utility>

#include "sticky/base/check.hpp"

namespace sticky::coordinator {

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
         queued_bytes_ < options_.max_queued_bytes;
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

// The last one held takes the free place: order within `held` means nothing.
void Reactor::take_from_worker(Invocation& invocation) {
  Worker& worker = workers_[static_cast<std::size_t>(invocation.worker)];
  const auto place = static_cast<std::size_t>(invocation.place);
  const InvocationId last = worker.held.back();
  worker.held[place] = last;
  invocations_.find(last)->place = invocation.place;
  worker.held.pop_back();
  if (worker.is_open) ++n_free_;
  invocation.worker = kNobody;
}

void Reactor::forget(InvocationId id, const Invocation& invocation) {
  queued_bytes_ -= invocation.n_bytes;
  invocations_.erase(id);
}

bool Reactor::is_suspect(const Invocation& invocation) const {
  return invocation.n_deaths > 0 && invocation.n_deaths + 1 >= options_.attempts;
}

void Reactor::queue_at_front(InvocationId id, const Invocation& invocation) {
  (is_suspect(invocation) ? suspects_ : waiting_).push_front(id);
}

// Everything that a worker holds goes back to the front of the queue, in the order of the input.
void Reactor::give_back_all(Worker& worker, bool is_death, Actions& out) {
  std::vector<InvocationId> ids = std::exchange(worker.held, {});
  std::ranges::sort(ids, std::greater{});
  for (const InvocationId id : ids) {
    Invocation& invocation = *invocations_.find(id);
    invocation.worker = kNobody;
    if (is_death) ++invocation.n_deaths;
    if (invocation.n_deaths >= std::max<i64>(options_.attempts, 1)) {
      out.emplace_back(RecordFailure{id, invocation.n_deaths});
      forget(id, invocation);
    } else {
      queue_at_front(id, invocation);
    }
  }
}

// From now on the worker takes part in dispatch.
void Reactor::open(WorkerId id) {
  Worker& worker = at(id);
  if (!worker.is_open) {
    worker.is_open = true;
    n_free_ += worker.slots - static_cast<i64>(worker.held.size());
  }
  if (!worker.is_listed && static_cast<i64>(worker.held.size()) < worker.slots) {
    worker.is_listed = true;
    ready_.push_back(id);
  }
}

void Reactor::close(WorkerId id) {
  Worker& worker = at(id);
  if (worker.is_open) n_free_ -= worker.slots - static_cast<i64>(worker.held.size());
  worker.is_open = false;
}

// The first n of a queue go to the worker, in messages of at most options_.batch.
void Reactor::send(WorkerId id, i64 n, std::deque<InvocationId>& from, Actions& out) {
  Worker& worker = at(id);
  if (worker.held.empty()) worker.moved = now_;
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
      invocation.place = static_cast<i32>(worker.held.size());
      worker.held.push_back(next);
      work.invocations.push_back({next, 1 + invocation.n_deaths});
    }
    n -= n_now;
    out.emplace_back(std::move(work));
    if (worker.is_open) n_free_ -= n_now;
  }
}

// One round over the workers that have free slots. When less waits than is free, each gets
// ceil(waiting * its free / all free) of what is still to be shared: the sum is exactly what waits.
void Reactor::share_out(Actions& out) {
  i64 n_to_visit = static_cast<i64>(ready_.size());
  i64 free_ahead = n_free_;
  for (; n_to_visit > 0 && !waiting_.empty(); --n_to_visit) {
    const WorkerId id = ready_.front();
    ready_.pop_front();
    Worker& worker = at(id);
    worker.is_listed = false;
    const i64 free = worker.slots - static_cast<i64>(worker.held.size());
    if (!worker.is_open || free <= 0) continue;
    const i64 n_waiting = static_cast<i64>(waiting_.size());
    const i64 share =
        n_waiting >= free_ahead ? free : (n_waiting * free + free_ahead - 1) / free_ahead;
    send(id, std::min(share, n_waiting), waiting_, out);
    free_ahead -= free;
    open(id);
  }
}

// A suspect gets a worker of its own: one that is emptied first, then runs suspects one by one.
void Reactor::try_suspects(Actions& out) {
  if (!isolation_) {
    isolation_ = pick_isolation();
    if (!isolation_) return;
    close(*isolation_);
  }
  if (!at(*isolation_).held.empty()) return;
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

void Reactor::check() const {
  i64 n_held = 0, n_free = 0, n_living = 0;
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    const Worker& worker = workers_[w];
    const i64 held = static_cast<i64>(worker.held.size());
    STICKY_CHECK(held <= worker.slots);
    STICKY_CHECK(worker.state != WorkerState::gone || (held == 0 && !worker.is_open));
    for (std::size_t k = 0; k < worker.held.size(); ++k) {
      const Invocation* invocation = invocations_.find(worker.held[k]);
      STICKY_CHECK(invocation != nullptr && invocation->worker == static_cast<i32>(w) &&
                   invocation->place == static_cast<i32>(k));
      // A suspect has no company.
      STICKY_CHECK(!is_suspect(*invocation) || held == 1);
    }
    n_held += held;
    if (worker.is_open) n_free += worker.slots - held;
    if (worker.state != WorkerState::gone) ++n_living;
  }
  STICKY_CHECK(n_free == n_free_ && n_living == n_living_);
  for (const auto* queue : {&waiting_, &suspects_}) {
    for (const InvocationId id : *queue) {
      const Invocation* invocation = invocations_.find(id);
      STICKY_CHECK(invocation != nullptr && invocation->worker == kNobody);
      STICKY_CHECK(is_suspect(*invocation) == (queue == &suspects_));
    }
  }
  STICKY_CHECK(n_held + n_waiting() == invocations_.size());
}

}  // namespace sticky::coordinator
