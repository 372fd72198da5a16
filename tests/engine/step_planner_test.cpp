#include "src/engine/step_planner.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "kernels/kv_pages.hpp"

namespace sticky::engine {
namespace {

constexpr PlanLimits kRoomy{.max_sequences = 8, .max_batch_tokens = 64};

// A sequence that owns what SequenceView looks at.
struct Fake {
  i64 n_tokens = 0;
  i64 n_computed = 0;
  std::vector<i32> pages{};
  std::vector<Hash128> hashes{};

  [[nodiscard]] SequenceView view() const {
    return {.n_tokens = n_tokens, .n_computed = n_computed, .pages = pages, .page_hashes = hashes};
  }
};

std::vector<SequenceView> views(const std::vector<Fake>& fakes) {
  std::vector<SequenceView> result;
  for (const Fake& f : fakes)
    result.push_back(f.view());
  return result;
}

StepPlan plan(const std::vector<Fake>& running,
              const std::vector<Fake>& waiting,
              const PagePool& pool,
              const PlanLimits& limits = kRoomy) {
  return plan_step(views(running), views(waiting), pool, limits);
}

std::vector<i32> allocate(PagePool& pool, i64 n) {
  std::vector<i32> pages;
  for (i64 i = 0; i < n; ++i)
    pages.push_back(pool.allocate());
  return pages;
}

// Hashes of n pages; equal names and places give equal hashes.
std::vector<Hash128> hashes(std::uint64_t name, i64 n) {
  std::vector<Hash128> result;
  for (i64 i = 0; i < n; ++i) {
    result.push_back({.high = name, .low = static_cast<std::uint64_t>(i) * 100 + name});
  }
  return result;
}

TEST(StepPlanner, NothingToDoIsAnEmptyPlan) {
  EXPECT_EQ(plan({}, {}, PagePool(4)), StepPlan{});
}

TEST(StepPlanner, PromptsAreComputedInChunksOfTheBudget) {
  PagePool pool(20);

  const auto first = plan({}, {{.n_tokens = 100}, {.n_tokens = 10}}, pool);
  EXPECT_EQ(first, (StepPlan{.admitted = {{0, 0, 64}}}));

  const Fake half{.n_tokens = 100, .n_computed = 64, .pages = allocate(pool, 4)};
  EXPECT_EQ(plan({half}, {{.n_tokens = 10}, {.n_tokens = 50}}, pool),
            (StepPlan{.granted = {{0, 36}}, .admitted = {{0, 0, 10}, {1, 0, 18}}}));
}

TEST(StepPlanner, APromptLeavesRowsToThoseThatDecode) {
  PagePool pool(20);
  const Fake prompt{.n_tokens = 100, .pages = {}};
  const Fake decoding{.n_tokens = 5, .n_computed = 4, .pages = allocate(pool, 1)};

  EXPECT_EQ(plan({prompt, decoding, decoding}, {}, pool),
            (StepPlan{.granted = {{0, 62}, {1, 1}, {2, 1}}}));
  EXPECT_EQ(
      plan({prompt, decoding, decoding}, {}, pool, {.max_sequences = 8, .max_batch_tokens = 2}),
      (StepPlan{.granted = {{0, 1}, {1, 1}}}))
      << "the oldest goes on, whatever the budget";
}

TEST(StepPlanner, SlotsBoundHowManyRun) {
  PagePool pool(20);
  const Fake decoding{.n_tokens = 5, .n_computed = 4, .pages = allocate(pool, 1)};
  const std::vector<Fake> waiting(5, Fake{.n_tokens = 3});

  EXPECT_EQ(plan({decoding}, waiting, pool, {.max_sequences = 3, .max_batch_tokens = 64}),
            (StepPlan{.granted = {{0, 1}}, .admitted = {{0, 0, 3}, {1, 0, 3}}}));
}

TEST(StepPlanner, OutOfPagesTheYoungestReturns) {
  PagePool pool(3);
  const Fake oldest{.n_tokens = 17, .n_computed = 16, .pages = allocate(pool, 1)};
  const Fake middle{.n_tokens = 17, .n_computed = 16, .pages = allocate(pool, 1)};
  const Fake youngest{.n_tokens = 5, .n_computed = 4, .pages = allocate(pool, 1)};

  // The page of the youngest goes to the oldest; the middle one then is the youngest and waits.
  EXPECT_EQ(plan({oldest, middle, youngest}, {{.n_tokens = 2}}, pool),
            (StepPlan{.returned = {2}, .granted = {{0, 1}}}));
}

TEST(StepPlanner, AReturnThatFreesNothingIsFollowedByTheNext) {
  PagePool pool(3);
  const std::vector<i32> shared = allocate(pool, 1);
  pool.retain(shared[0]);
  pool.retain(shared[0]);
  const Fake oldest{.n_tokens = 17, .n_computed = 16, .pages = allocate(pool, 1)};
  Fake holder{.n_tokens = 18, .n_computed = 17, .pages = shared};
  holder.pages.push_back(pool.allocate());
  const Fake sharer{.n_tokens = 16, .n_computed = 15, .pages = shared};

  // Both sharers return before the shared page does; the second also brings one of its own.
  EXPECT_EQ(plan({oldest, holder, sharer}, {}, pool),
            (StepPlan{.returned = {2, 1}, .granted = {{0, 1}}}));
}

TEST(StepPlanner, AChunkShrinksToThePagesThereAre) {
  PagePool pool(3);
  const Fake decoding{.n_tokens = 5, .n_computed = 4, .pages = allocate(pool, 1)};
  const Fake prompt{.n_tokens = 60, .pages = {}};

  EXPECT_EQ(plan({decoding, prompt}, {}, pool), (StepPlan{.granted = {{0, 1}, {1, 32}}}));
}

TEST(StepPlanner, NoneIsAdmittedWhereRunningOnesNeedThePages) {
  PagePool pool(5);
  const Fake decoding{.n_tokens = 5, .n_computed = 4, .pages = allocate(pool, 1)};

  // 4 pages left, one is kept for the running one to grow.
  EXPECT_EQ(plan({decoding}, {{.n_tokens = 48}}, pool).admitted.size(), 1U);
  EXPECT_EQ(plan({decoding}, {{.n_tokens = 49}, {.n_tokens = 1}}, pool).admitted.size(), 0U)
      << "and none overtakes the one that waits for pages";
  EXPECT_EQ(plan({}, {{.n_tokens = 64}}, pool).admitted.size(), 1U) << "alone it is admitted";
}

TEST(StepPlanner, CachedPagesAreSkippedButNeverTheLastToken) {
  PagePool pool(8);
  const auto known = hashes(1, 3);
  const auto pages = allocate(pool, 3);
  for (std::size_t i = 0; i < 3; ++i)
    pool.publish(pages[i], known[i]);
  for (const i32 page : pages)
    pool.release(page);

  EXPECT_EQ(plan({}, {{.n_tokens = 50, .hashes = known}}, pool),
            (StepPlan{.admitted = {{0, 3, 2}}}));
  EXPECT_EQ(plan({}, {{.n_tokens = 48, .hashes = known}}, pool),
            (StepPlan{.admitted = {{0, 2, 16}}}));
}

TEST(StepPlanner, OneWhosePrefixIsBeingComputedWaitsAndKeepsItsSlot) {
  PagePool pool(20);
  const Fake a{.n_tokens = 40, .hashes = hashes(1, 2)};
  const Fake stranger{.n_tokens = 3};

  EXPECT_EQ(
      plan({}, {a, a, stranger, stranger}, pool, {.max_sequences = 3, .max_batch_tokens = 64}),
      (StepPlan{.admitted = {{0, 0, 40}, {2, 0, 3}}}));

  // Its first page is there now; the second is still being computed, by one that runs.
  Fake running = a;
  running.pages = allocate(pool, 3);
  running.n_computed = 16;
  pool.publish(running.pages[0], a.hashes[0]);
  EXPECT_EQ(plan({running}, {a}, pool), (StepPlan{.granted = {{0, 24}}}));

  running.n_computed = 40;
  pool.publish(running.pages[1], a.hashes[1]);
  running.n_tokens = 41;
  EXPECT_EQ(plan({running}, {a}, pool), (StepPlan{.granted = {{0, 1}}, .admitted = {{0, 2, 8}}}));
}

// Carries plans out on a pool, as the engine does, with sequences of random lengths.
class Simulation {
 public:
  struct Job {
    i64 number = 0;
    i64 n_final = 0;  // tokens when it ends
    Fake fake;
  };

  Simulation(unsigned seed, i64 context)
      : random_(seed),
        context_(context),
        pool_(n_pages_for(context) + between(0, 6)),
        limits_{.max_sequences = between(1, 6), .max_batch_tokens = between(1, 40)} {}

  i64 between(i64 low, i64 high) { return low + static_cast<i64>(random_()) % (high - low + 1); }

  void arrive() {
    const i64 n_tokens = between(1, context_ - 1);
    // Few names, so that prefixes are shared.
    waiting_.push_back({.number = n_arrived_++,
                        .n_final = between(n_tokens + 1, context_),
                        .fake = {.n_tokens = n_tokens,
                                 .hashes = hashes(static_cast<std::uint64_t>(between(1, 3)),
                                                  n_tokens / kPageTokens)}});
  }

  void step() {
    const StepPlan plan = plan_step(fakes(running_), fakes(waiting_), pool_, limits_);
    check(plan);
    carry_out(plan);
    ASSERT_EQ(pool_.n_free() + pool_.n_used() + pool_.n_cached(), pool_.n_total());
  }

  [[nodiscard]] bool idle() const { return running_.empty() && waiting_.empty(); }
  [[nodiscard]] const PagePool& pool() const { return pool_; }

 private:
  static std::vector<SequenceView> fakes(const std::vector<Job>& jobs) {
    std::vector<SequenceView> result;
    for (const Job& j : jobs)
      result.push_back(j.fake.view());
    return result;
  }

  // Steps that the running sequences need at most, the oldest of them getting a row in each.
  [[nodiscard]] i64 n_rows_to_come() const {
    i64 n = 0;
    for (const Job& j : running_)
      n += j.n_final - j.fake.n_computed;
    return n;
  }

  void check(const StepPlan& plan) {
    if (idle()) return;
    i64 n_rows = 0;
    for (const auto& g : plan.granted)
      n_rows += g.n_rows;
    for (const auto& a : plan.admitted)
      n_rows += a.n_rows;
    ASSERT_GE(n_rows, 1);
    ASSERT_LE(n_rows, limits_.max_batch_tokens);
    ASSERT_LE(std::ssize(running_) - std::ssize(plan.returned) + std::ssize(plan.admitted),
              limits_.max_sequences);
    ASSERT_TRUE(plan.returned.empty() || plan.admitted.empty());
    if (!running_.empty()) {
      ASSERT_TRUE(!plan.granted.empty() && plan.granted[0].index == 0);
    }
    check_oldest_waiting(plan);
  }

  void check_oldest_waiting(const StepPlan& plan) {
    if (waiting_.empty()) return;
    if (waiting_[0].number != watched_) {
      watched_ = waiting_[0].number;
      n_steps_watched_ = 0;
      bound_ = n_rows_to_come() + 1;
    }
    ++n_steps_watched_;
    const bool is_in = !plan.admitted.empty() && plan.admitted[0].index == 0;
    ASSERT_TRUE(is_in || n_steps_watched_ <= bound_) << "starves";
    if (is_in) watched_ = -1;
  }

  void carry_out(const StepPlan& plan) {
    for (i64 i = 0; i < std::ssize(plan.returned); ++i) {
      give_back(running_.back());
      const auto at = std::ranges::upper_bound(waiting_, running_.back().number, {}, &Job::number);
      waiting_.insert(at, running_.back());
      running_.pop_back();
    }
    for (const auto& a : plan.admitted) {
      Fake& f = waiting_[static_cast<std::size_t>(a.index)].fake;
      for (i64 p = 0; p < a.n_cached_pages; ++p) {
        f.pages.push_back(*pool_.find(f.hashes[static_cast<std::size_t>(p)]));
        pool_.retain(f.pages.back());
      }
      f.n_computed = a.n_cached_pages * kPageTokens;
    }
    for (const auto& g : plan.granted)
      compute(running_[static_cast<std::size_t>(g.index)], g.n_rows);
    for (const auto& a : plan.admitted) {
      Job& job = waiting_[static_cast<std::size_t>(a.index)];
      compute(job, a.n_rows);
      const auto at = std::ranges::upper_bound(running_, job.number, {}, &Job::number);
      running_.insert(at, job);
      job.number = -1;
    }
    std::erase_if(waiting_, [](const Job& j) { return j.number < 0; });
    for (Job& job : running_) {
      if (job.fake.n_tokens == job.n_final) give_back(job);
    }
    std::erase_if(running_, [](const Job& j) { return j.fake.n_tokens == j.n_final; });
  }

  void compute(Job& job, i64 n_rows) {
    Fake& f = job.fake;
    while (std::ssize(f.pages) < n_pages_for(f.n_computed + n_rows)) {
      f.pages.push_back(pool_.allocate());  // aborts where the plan promised too much
    }
    const i64 n_full = f.n_computed / kPageTokens;
    f.n_computed += n_rows;
    ASSERT_LE(f.n_computed, f.n_tokens);
    for (i64 p = n_full; p < std::min(f.n_computed / kPageTokens, std::ssize(f.hashes)); ++p) {
      pool_.publish(f.pages[static_cast<std::size_t>(p)], f.hashes[static_cast<std::size_t>(p)]);
    }
    if (f.n_computed == f.n_tokens) ++f.n_tokens;
  }

  void give_back(Job& job) {
    for (auto page = job.fake.pages.rbegin(); page != job.fake.pages.rend(); ++page) {
      pool_.release(*page);
    }
    job.fake.pages.clear();
    job.fake.n_computed = 0;
  }

  std::mt19937 random_;
  i64 context_;
  PagePool pool_;
  PlanLimits limits_;
  std::vector<Job> waiting_;
  std::vector<Job> running_;
  i64 n_arrived_ = 0;
  i64 watched_ = -1;
  i64 n_steps_watched_ = 0;
  i64 bound_ = 0;
};

TEST(StepPlanner, EveryScheduleEndsAndTheOldestWaitingNeverStarves) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Simulation simulation(seed, /*context=*/80);
    i64 n_to_come = simulation.between(1, 15);
    i64 n_steps = 0;
    while (n_to_come > 0 || !simulation.idle()) {
      if (n_to_come > 0 && simulation.between(0, 3) == 0) {
        simulation.arrive();
        --n_to_come;
      }
      simulation.step();
      if (HasFatalFailure()) return;
      ASSERT_LT(++n_steps, 20'000);
    }
    ASSERT_EQ(simulation.pool().n_used(), 0);
  }
}

}  // namespace
}  // namespace sticky::engine
