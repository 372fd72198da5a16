#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "kernels/cpu/parallel.hpp"

namespace sticky::backend {

/// Threads that wait for small jobs many thousand times a second: a worker spins for some tens of
/// microseconds after its last job and then sleeps, since cores are shared with other processes.
///
/// The caller of for_each works too, and waits for the items to be done, not for the threads: a
/// worker that wakes too late finds nothing to do and holds nobody up. One job at a time; for_each
/// is called from one thread. A pool of one thread has no workers and no cost.
///
/// ticket_ = round << 32 | next item. An item is taken by raising the ticket; this succeeds only
/// while the round is still the one whose job was read, for the ticket is closed before a job is
/// replaced, and then the job cannot end before that item is done.
class ThreadPool final : public cpu::Parallel {
 public:
  /// n_threads >= 1, the calling thread included.
  explicit ThreadPool(i64 n_threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() override;

  [[nodiscard]] i64 n_threads() const override { return static_cast<i64>(workers_.size()) + 1; }
  void for_each(i64 n, cpu::IndexFunction f) override;

 private:
  void work();
  /// Does items of a round until none is left to take.
  void take_items(std::uint64_t round);
  /// The round that comes after `round`; waits for it.
  std::uint64_t next_round(std::uint64_t round) const;

  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<i64> n_items_{0};
  std::atomic<const cpu::IndexFunction*> job_{nullptr};
  std::atomic<i64> n_done_{0};
  std::atomic<std::uint32_t> round_{0};  ///< what sleepers wait on
  std::atomic<bool> stop_{false};
  std::vector<std::thread> workers_;
};

}  // namespace sticky::backend
