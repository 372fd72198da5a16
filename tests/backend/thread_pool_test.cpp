#include "thread_pool.hpp"

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

}  // namespace
}  // namespace sticky::backend
