// Answers must not depend on what else an engine does: thousands of seeded schedules, each answer
// compared with that of its job alone.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "tests/engine/random_jobs.hpp"

namespace sticky::engine {
namespace {

// The same without an engine: greedy, and only what ends by tokens and counts.
std::vector<i32> greedy_tokens(const Job& job) {
  std::vector<i32> history = job.prompt;
  std::vector<float> logits(kVocab);
  while (std::ssize(history) < kContext) {
    test::history_logits(history, logits);
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    history.push_back(static_cast<i32>(best));
    const i64 n_output = std::ssize(history) - std::ssize(job.prompt);
    if (best == kEos || n_output == job.sampling.max_tokens) break;
  }
  return {history.begin() + std::ssize(job.prompt), history.end()};
}

TEST(Schedule, AJobAloneGivesWhatTheModelSays) {
  Random random(1);
  for (i64 key = 0; key < 300; ++key) {
    Job job = random_job(random, key);
    job.sampling = {.temperature = 0.0, .max_tokens = job.sampling.max_tokens};
    if (job.sampling.max_tokens == 0) continue;
    const auto answer = alone(job);
    ASSERT_EQ(answer.token_ids, greedy_tokens(job));
    std::vector<i32> text = answer.token_ids;
    if (answer.finish_reason == "stop") text.pop_back();
    ASSERT_EQ(answer.text, tokenizer().decode(text, true));
  }
}

// Jobs arrive, are cancelled and finish in an engine of random size.
class ScheduledRun {
 public:
  explicit ScheduledRun(unsigned seed)
      : random_(seed),
        n_jobs_(random_.between(1, 16)),
        options_{.max_sequences = random_.between(1, 8),
                 .max_batch_tokens =
                     random_.once_in(2) ? random_.between(1, 12) : random_.between(13, 200),
                 .prefix_cache = !random_.once_in(4)},
        model_({.vocab = kVocab,
                .context = kContext,
                .n_pages = kContext / 16 + random_.between(0, 5)}),
        engine_(model_, tokenizer(), {kEos}, options_, clock_) {}

  void finish_all() {
    for (i64 n_steps = 0; n_submitted_ < n_jobs_ || !engine_.idle(); ++n_steps) {
      ASSERT_LT(n_steps, 30'000) << "no end";
      while (n_submitted_ < n_jobs_ && random_.once_in(3))
        submit();
      if (random_.once_in(40)) cancel_one();
      for (const Outcome& outcome : engine_.step()) {
        ASSERT_EQ(expected_.count(outcome.key), 1U);
        ASSERT_NO_FATAL_FAILURE(expect_equal(outcome, expected_.at(outcome.key)));
        expected_.erase(outcome.key);
      }
      ASSERT_EQ(engine_.n_jobs(), std::ssize(expected_));
    }
    ASSERT_TRUE(expected_.empty());
    ASSERT_LE(model_.n_rows_of_largest_step(), options_.max_batch_tokens);
    ASSERT_LE(model_.n_sequences_of_largest_step(), options_.max_sequences);
    fill_the_pool();
  }

  [[nodiscard]] const Stats& stats() const { return engine_.stats(); }

 private:
  void submit() {
    const Job job = random_job(random_, n_submitted_++);
    expected_[job.key] = outcome_alone(job);
    engine_.submit(job);
  }

  void cancel_one() {
    if (expected_.empty()) return;
    const auto at = std::next(expected_.begin(), random_.between(0, std::ssize(expected_) - 1));
    if (engine_.cancel(at->first)) expected_.erase(at);
  }

  // A page that was lost on the way would be missed now.
  void fill_the_pool() {
    const i64 n_sequences = model_.limits().n_pages / (kContext / 16);
    for (i64 i = 0; i < n_sequences; ++i) {
      Job job{.key = 1000 + i, .sampling = {.temperature = 0.0}};
      job.prompt.assign(kContext - 1, static_cast<i32>(i));
      engine_.submit(job);
    }
    while (!engine_.idle())
      (void)engine_.step();
  }

  Random random_;
  i64 n_jobs_;
  Options options_;
  ManualClock clock_;
  test::HistoryModel model_;
  Engine engine_;
  i64 n_submitted_ = 0;
  std::map<i64, Outcome> expected_;
};

TEST(Schedule, AnswersAreThoseOfEachJobAlone) {
  i64 n_preempted = 0;
  i64 n_cached = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    ScheduledRun run(seed);
    run.finish_all();
    if (HasFatalFailure()) return;
    n_preempted += run.stats().preemptions;
    n_cached += run.stats().cached_tokens;
  }
  // The schedules must be such that what they are to try does happen.
  EXPECT_GT(n_preempted, 300);
  EXPECT_GT(n_cached, 10'000);
}

}  // namespace
}  // namespace sticky::engine
