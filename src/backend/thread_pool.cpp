#include "thread_pool.hpp"

#include <chrono>

#include "sticky/base/check.hpp"

namespace sticky::backend {
namespace {

constexpr std::uint64_t kRoundShift = 32;
constexpr std::uint64_t kItemMask = (std::uint64_t{1} << kRoundShift) - 1;
constexpr auto kSpinTime = std::chrono::microseconds(50);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadPool::ThreadPool(i64 n_threads) {
  STICKY_CHECK(n_threads >= 1);
  for (i64 i = 1; i < n_threads; ++i)
    workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& worker : workers_)
    worker.join();
}

void ThreadPool::for_each(i64 n, cpu::IndexFunction f) {
  if (workers_.empty() || n <= 1) {
    for (i64 i = 0; i < n; ++i)
      f(i);
    return;
  }
  STICKY_CHECK(n <= static_cast<i64>(kItemMask));
  const std::uint32_t round = round_.load(std::memory_order_relaxed) + 1;
  const std::uint64_t first = std::uint64_t{round} << kRoundShift;
  // Closed first: whoever still holds a ticket of the last round and already sees the new job could
  // otherwise take an item of it before it has begun. Who sees the new job sees the closed ticket.
  ticket_.store(first | kItemMask, std::memory_order_relaxed);
  job_.store(&f, std::memory_order_release);
  n_items_.store(n, std::memory_order_release);
  n_done_.store(0, std::memory_order_relaxed);
  ticket_.store(first, std::memory_order_release);
  round_.store(round, std::memory_order_release);
  round_.notify_all();
  take_items(round);
  while (n_done_.load(std::memory_order_acquire) < n)
    pause();
}

void ThreadPool::take_items(std::uint64_t round) {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (ticket >> kRoundShift == round) {
    const auto item = static_cast<i64>(ticket & kItemMask);
    const i64 n = n_items_.load(std::memory_order_acquire);
    const cpu::IndexFunction* job = job_.load(std::memory_order_acquire);
    if (item >= n) return;
    if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
    (*job)(item);
    n_done_.fetch_add(1, std::memory_order_release);
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

std::uint64_t ThreadPool::next_round(std::uint64_t round) const {
  const auto seen = static_cast<std::uint32_t>(round);
  const auto give_up = std::chrono::steady_clock::now() + kSpinTime;
  for (;;) {
    for (int i = 0; i < 64; ++i) {
      const std::uint32_t now = round_.load(std::memory_order_acquire);
      if (now != seen) return now;
      pause();
    }
    if (std::chrono::steady_clock::now() > give_up) round_.wait(seen, std::memory_order_acquire);
  }
}

void ThreadPool::work() {
  std::uint64_t round = 0;
  while (true) {
    round = next_round(round);
    if (stop_.load()) return;
    take_items(round);
  }
}

}  // namespace sticky::backend
