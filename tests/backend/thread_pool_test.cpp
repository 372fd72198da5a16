#include "thread_pool.hpp"

#include <array>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace sticky::backend {
namespace {

TEST(ThreadPool, CallsEachItemOnceInEachOfManyJobs) {
  for (const i64 n_threads : {1, 2, 5}) {
    ThreadPool pool(n_threads);
    EXPECT_EQ(pool.n_threads(), n_threads);
    for (i64 job = 0; job < 2000; ++job) {
      const i64 n = job % 17;
      std::atomic<i64> calls[17] = {};
      pool.for_each(n, cpu::IndexFunction([&](i64 i) { calls[i].fetch_add(1); }));
      for (i64 i = 0; i < 17; ++i)
        ASSERT_EQ(calls[i].load(), i < n ? 1 : 0) << "job " << job << " item " << i;
    }
  }
}

TEST(ThreadPool, WritesOfItemsAreSeenAfterwards) {
  ThreadPool pool(4);
  std::vector<i64> values(100);
  for (i64 job = 1; job <= 500; ++job) {
    pool.for_each(100,
                  cpu::IndexFunction([&](i64 i) { values[static_cast<std::size_t>(i)] += i; }));
    for (i64 i = 0; i < 100; ++i)
      ASSERT_EQ(values[static_cast<std::size_t>(i)], i * job);
  }
}

TEST(ThreadPool, SharesItemsAmongThreads) {
  ThreadPool pool(2);
  std::atomic<i64> waiting{0};
  // Each of two items waits for the other: they end only if two threads run them.
  pool.for_each(2, cpu::IndexFunction([&](i64) {
                  waiting.fetch_add(1);
                  while (waiting.load() < 2)
                    std::this_thread::yield();
                }));
  EXPECT_EQ(waiting.load(), 2);
}

TEST(ThreadPool, EndsWithoutAnyJob) {
  const ThreadPool pool(3);
}

// A thread that is late for a round must not take an item of the next one before that has begun.
TEST(ThreadPool, RoundsOfDifferentLengthsThatFollowEachOtherAtOnceNeverMix) {
  ThreadPool pool(3);
  constexpr i64 kMost = 16;
  std::array<std::atomic<i64>, kMost> n_calls{};
  for (i64 round = 0; round < 300'000; ++round) {
    const i64 n = round % 2 == 0 ? 2 : kMost;
    const i64 token = round;  // on this stack frame, as a kernel's arguments are
    std::atomic<bool> is_stale = false;
    const auto call = [&](i64 i) {
      if (token != round) is_stale = true;
      n_calls[static_cast<std::size_t>(i)].fetch_add(1, std::memory_order_relaxed);
    };
    pool.for_each(n, cpu::IndexFunction(call));
    for (i64 i = 0; i < kMost; ++i) {
      const i64 n_now = n_calls[static_cast<std::size_t>(i)].exchange(0);
      ASSERT_EQ(n_now, i < n ? 1 : 0) << "item " << i << " of round " << round;
    }
    ASSERT_FALSE(is_stale);
  }
}

}  // namespace
}  // namespace sticky::backend
