// An answer that is cut after any token and gone on with in another engine must be the one that
// nobody disturbed.
#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include "tests/engine/random_jobs.hpp"

#include "src/engine/sequence.hpp"

namespace sticky::engine {
namespace {

std::vector<i32> first(const std::vector<i32>& tokens, i64 n) {
  return {tokens.begin(), tokens.begin() + n};
}

// An engine of random shape, so that what is brought comes in chunks, too.
class Resumed {
 public:
  explicit Resumed(Random& random)
      : options_{.max_sequences = random.between(1, 4),
                 .max_batch_tokens =
                     random.once_in(2) ? random.between(1, 12) : random.between(13, 200),
                 .prefix_cache = !random.once_in(4)},
        model_({.vocab = kVocab,
                .context = kContext,
                .n_pages = kContext / kPageTokens + random.between(0, 12)}),
        engine_(model_, tokenizer(), {kEos}, options_, clock_) {}

  void submit(const Job& job) { engine_.submit(job); }
  Outcome outcome(const Job& job) {
    engine_.submit(job);
    Outcome out;
    while (!engine_.idle()) {
      for (Outcome& outcome : engine_.step()) {
        if (outcome.key == job.key) out = std::move(outcome);
      }
    }
    EXPECT_LE(model_.n_logit_rows_of_largest_step(), options_.max_sequences + kKnownLogitRows);
    return out;
  }
  // Some steps; what they made of the job, and nothing if it has ended.
  std::optional<std::vector<i32>> made_in(i64 n_steps, const Job& job) {
    engine_.submit(job);
    for (i64 i = 0; i < n_steps; ++i)
      (void)engine_.step();
    return engine_.cancel(job.key);
  }
  [[nodiscard]] const Stats& stats() const { return engine_.stats(); }

 private:
  Options options_;
  ManualClock clock_;
  test::HistoryModel model_;
  Engine engine_;
};

TEST(Resume, AnAnswerCutAfterAnyTokenIsTheUndisturbedOne) {
  i64 n_cuts = 0, n_with_logprobs = 0, n_with_stops = 0, n_with_min_tokens = 0, n_with_scoring = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Random random(seed);
    Job job = random_job(random, seed);
    const auto outcome = outcome_alone(job);
    const auto& want = outcome.answer;
    for (i64 cut = 1; cut < std::ssize(want.token_ids); ++cut) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " cut after " << cut);
      job.made = first(want.token_ids, cut);
      Resumed resumed(random);
      ASSERT_NO_FATAL_FAILURE(expect_equal(resumed.outcome(job), outcome));
      ASSERT_EQ(resumed.stats().generated_tokens, std::ssize(want.token_ids) - cut);
      ++n_cuts;
      if (job.scoring) ++n_with_scoring;
      if (job.sampling.top_logprobs >= 0) ++n_with_logprobs;
      if (!job.sampling.stop.empty() && want.finish_reason == "stop") ++n_with_stops;
      if (job.sampling.min_tokens > cut) ++n_with_min_tokens;
    }
  }
  // The seeds must be such that what they are to try does happen.
  EXPECT_GT(n_cuts, 3000);
  EXPECT_GT(n_with_logprobs, 1000);
  EXPECT_GT(n_with_stops, 300);
  EXPECT_GT(n_with_min_tokens, 50);
  EXPECT_GT(n_with_scoring, 1000);
}

TEST(Resume, AnAnswerThatMovesAgainAndAgainIsTheUndisturbedOne) {
  i64 n_moves = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Job job = random_job(random, seed);
    const auto want = outcome_alone(job);
    const auto& want_ids = want.answer.token_ids;
    for (int i = 0; i < 8; ++i) {
      Resumed engine(random);
      // With others, for whom it may have to wait or give its pages back.
      for (i64 key = 1000; key < 1000 + random.between(0, 3); ++key)
        engine.submit(random_job(random, key));
      const auto made = engine.made_in(random.between(0, 12), job);
      if (!made) break;
      ASSERT_GE(made->size(), job.made.size()) << "what came along is never lost";
      ASSERT_LE(made->size(), want_ids.size());
      ASSERT_TRUE(std::ranges::equal(*made, first(want_ids, std::ssize(*made))));
      job.made = *made;
      ++n_moves;
    }
    Resumed last(random);
    ASSERT_NO_FATAL_FAILURE(expect_equal(last.outcome(job), want));
  }
  EXPECT_GT(n_moves, 1000);
}

// Another has the same text in the cache already, the tokens that are brought included.
TEST(Resume, LogprobsOfTokensThatTheCacheHoldsAreTheUndisturbedOnes) {
  i64 n_cached = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Job job = random_job(random, seed);
    job.prompt.resize(std::min<std::size_t>(job.prompt.size(), 30));
    job.sampling.ignore_eos = true;
    job.sampling.stop.clear();
    job.sampling.max_tokens = 50;
    job.sampling.top_logprobs = 2;
    job.scoring.reset();
    const auto want = alone(job);
    test::HistoryModel model({.vocab = kVocab, .context = kContext, .n_pages = 20});
    const ManualClock clock;
    Engine engine(model, tokenizer(), {kEos}, {}, clock);
    engine.submit(job);
    while (!engine.idle())
      (void)engine.step();
    job.made = first(want.token_ids, std::ssize(want.token_ids) - 1);
    engine.submit(job);
    std::vector<Outcome> outcomes;
    while (outcomes.empty())
      outcomes = engine.step();
    ASSERT_NO_FATAL_FAILURE(expect_equal(outcomes.at(0).answer, want));
    n_cached += outcomes.at(0).prompt.cached_tokens;
  }
  EXPECT_GT(n_cached, 1000);
}

TEST(Resume, TokensThatCannotStandThereAreNotUsed) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Job job = random_job(random, seed);
    job.sampling.ignore_eos = false;
    job.sampling.max_tokens = 20;
    const auto want = alone(job);
    const std::vector<std::vector<i32>> wrong{{-1},
                                              {0, kVocab},
                                              {kEos},
                                              {0, kEos, 0},
                                              std::vector<i32>(20, 0),
                                              std::vector<i32>(5000, 0),
                                              want.token_ids};
    for (const auto& made : wrong) {
      job.made = made;
      Resumed resumed(random);
      ASSERT_NO_FATAL_FAILURE(expect_equal(resumed.outcome(job).answer, want));
      ASSERT_EQ(resumed.stats().generated_tokens, std::ssize(want.token_ids));
    }
  }
}

TEST(Resume, AJobThatBringsTokensIsUntouchedUntilAStepTakesItIn) {
  test::HistoryModel model({.vocab = kVocab, .context = kContext, .n_pages = 12});
  const ManualClock clock;
  Engine engine(model, tokenizer(), {}, {.max_sequences = 1}, clock);
  engine.submit({.key = 1, .prompt = {3}, .sampling = {.max_tokens = 9}, .made = {4, 5}});
  engine.submit({.key = 2, .prompt = {3}, .sampling = {.max_tokens = 9}, .made = {6}});

  (void)engine.step();
  EXPECT_FALSE(engine.is_untouched(1));
  EXPECT_TRUE(engine.is_untouched(2));
  EXPECT_FALSE(engine.is_untouched(3));
  EXPECT_EQ(engine.cancel(1)->size(), 3U);
  EXPECT_EQ(engine.cancel(2), std::vector<i32>{6});
}

// HistoryModel takes no time, so the clock is moved between the steps.
TEST(Resume, TimesAreThoseOfThisEngine) {
  test::HistoryModel model({.vocab = kVocab, .context = kContext, .n_pages = 12});
  ManualClock clock;
  Engine engine(model, tokenizer(), {}, {.max_batch_tokens = 2}, clock);
  engine.submit({.prompt = {3}, .sampling = {.max_tokens = 5}, .made = {4, 5}});

  std::vector<Outcome> outcomes;
  while (outcomes.empty()) {
    clock.advance(std::chrono::milliseconds(10));
    outcomes = engine.step();
  }
  // Three known tokens in two steps, the second of which makes a token; two more of decoding.
  EXPECT_NEAR(outcomes[0].queued_seconds, 0.01, 1e-12);
  EXPECT_NEAR(outcomes[0].prefill_seconds, 0.01, 1e-12);
  EXPECT_NEAR(outcomes[0].decode_seconds, 0.02, 1e-12);
}

}  // namespace
}  // namespace sticky::engine
