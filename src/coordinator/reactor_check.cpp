// The invariants, spelled out.
#include "sticky/base/check.hpp"
#include "sticky/coordinator/reactor.hpp"

namespace sticky::coordinator {

void Reactor::check() const {
  i64 n_held = 0, n_free = 0, n_slots = 0, n_living = 0;
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    const Worker& worker = workers_[w];
    check_held({static_cast<i64>(w)});
    n_held += worker.n_held();
    if (worker.is_open) {
      n_free += worker.n_free();
      n_slots += worker.slots;
    }
    if (worker.state != WorkerState::gone) ++n_living;
  }
  STICKY_CHECK(n_free == n_free_ && n_slots == n_slots_ && n_living == n_living_);
  for (const auto* queue : {&waiting_, &suspects_}) {
    for (const InvocationId id : *queue) {
      const Invocation* invocation = invocations_.find(id);
      STICKY_CHECK(invocation != nullptr && invocation->worker == kNobody);
      STICKY_CHECK(is_suspect(*invocation) == (queue == &suspects_));
      STICKY_CHECK(!invocation->is_copied && !invocation->was_copied);
    }
  }
  const i64 n_copies = static_cast<i64>(copies_.size());
  STICKY_CHECK(n_held - n_copies + n_waiting() == invocations_.size());
  for (const auto& [id, copy] : copies_) {
    const Invocation* invocation = invocations_.find(id);
    STICKY_CHECK(invocation != nullptr && invocation->is_copied);
    STICKY_CHECK(invocation->worker != copy.worker && invocation->worker != kNobody);
    STICKY_CHECK(workers_[static_cast<std::size_t>(invocation->worker)].arithmetic ==
                 workers_[static_cast<std::size_t>(copy.worker)].arithmetic);
  }
  for (const auto& [id, deaths] : deaths_) {
    const Invocation* invocation = invocations_.find(id);
    STICKY_CHECK(invocation != nullptr && invocation->n_deaths == deaths.size());
  }
}

void Reactor::check_held(WorkerId id) const {
  const Worker& worker = workers_[static_cast<std::size_t>(id.value)];
  STICKY_CHECK(worker.n_free() >= 0);
  STICKY_CHECK(worker.state != WorkerState::gone ||
               (worker.held.empty() && worker.late.empty() && !worker.is_open));
  STICKY_CHECK(!worker.is_open || worker.state == WorkerState::ready);
  for (std::size_t k = 0; k < worker.held.size(); ++k) {
    const InvocationId what = worker.held[k].id;
    const Invocation* invocation = invocations_.find(what);
    STICKY_CHECK(invocation != nullptr && holds(id, what, *invocation));
    const i32 place = invocation->worker == id.value ? invocation->place : copies_.at(what).place;
    STICKY_CHECK(place == static_cast<i32>(k));
    // A suspect has no company, except one that became suspect while a copy of it ran.
    STICKY_CHECK(!is_suspect(*invocation) || invocation->was_copied || worker.n_held() == 1);
  }
  for (const InvocationId what : worker.late)
    STICKY_CHECK(invocations_.find(what) == nullptr);
}

}  // namespace sticky::coordinator
