// Log probabilities of a prompt's tokens. What they must be is computed here from the rule of the
// model that the tests have, in double precision and by the C library.
#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "tests/engine/random_jobs.hpp"

#include "src/engine/sequence.hpp"

namespace sticky::engine {
namespace {

struct Expected {
  std::vector<double> logprobs;  // of the whole vocabulary
  std::vector<i32> best;         // ids, best first
};

Expected expected_behind(std::span<const i32> history) {
  std::vector<float> logits(kVocab);
  test::history_logits(history, logits);
  double sum = 0.0;
  for (const float logit : logits)
    sum += std::exp(double{logit});
  Expected out;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    out.logprobs.push_back(double{logits[id]} - std::log(sum));
    out.best.push_back(static_cast<i32>(id));
  }
  std::ranges::stable_sort(out.best, [&](i32 a, i32 b) {
    return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
  });
  return out;
}

// The model's logits are 2^24 different numbers: there are no equals among 24 of them.
void expect_scored(const request::TokenLogprob& got, const Expected& want, i64 n_top) {
  const auto logprob = [&](i32 id) { return want.logprobs[static_cast<std::size_t>(id)]; };
  ASSERT_NEAR(got.logprob, logprob(got.id), 1e-12);
  ASSERT_EQ(got.rank, std::ranges::find(want.best, got.id) - want.best.begin() + 1);
  ASSERT_EQ(got.piece, tokenizer().piece(got.id));
  ASSERT_EQ(std::ssize(got.top), n_top);
  for (std::size_t k = 0; k < got.top.size(); ++k) {
    ASSERT_EQ(got.top[k].id, want.best[k]);
    ASSERT_EQ(got.top[k].rank, static_cast<i64>(k) + 1);
    ASSERT_NEAR(got.top[k].logprob, logprob(want.best[k]), 1e-12);
  }
}

void expect_scored(const Outcome& outcome, const Job& job) {
  ASSERT_EQ(outcome.fault, "");
  ASSERT_EQ(outcome.prompt.logprobs.has_value(), job.scoring.has_value());
  if (!job.scoring) return;
  const auto& scored = *outcome.prompt.logprobs;
  ASSERT_EQ(std::ssize(scored), std::ssize(job.prompt) - job.scoring->first);
  for (std::size_t i = 0; i < scored.size(); ++i) {
    const auto place = static_cast<std::size_t>(job.scoring->first) + i;
    ASSERT_EQ(scored[i].id, job.prompt[place]);
    if (place == 0) continue;
    const auto want = expected_behind(std::span(job.prompt).first(place));
    ASSERT_NO_FATAL_FAILURE(expect_scored(scored[i], want, job.scoring->n_top));
  }
}

// Others share the engine, its pages and the beginnings of prompts.
class ScoredRun {
 public:
  explicit ScoredRun(unsigned seed)
      : random_(seed),
        options_{.max_sequences = random_.between(1, 6),
                 .max_batch_tokens = random_.between(1, 120),
                 .prefix_cache = !random_.once_in(4)},
        model_({.vocab = kVocab, .context = kContext, .n_pages = 6 + random_.between(0, 4)}),
        engine_(model_, tokenizer(), {kEos}, options_, clock_) {}

  void check() {
    const i64 n_jobs = random_.between(1, 12);
    for (i64 key = 0; key < n_jobs; ++key) {
      Job job = random_job(random_, key);
      if (random_.once_in(2)) job.sampling.max_tokens = 0;
      if (job.sampling.max_tokens == 0 && job.prompt.size() < 2) job.prompt.push_back(3);
      engine_.submit(job);
      jobs_[key] = std::move(job);
      for (i64 n = random_.between(0, 3); n > 0; --n)
        ASSERT_NO_FATAL_FAILURE(step());
    }
    while (!engine_.idle())
      ASSERT_NO_FATAL_FAILURE(step());
    ASSERT_TRUE(jobs_.empty());
    ASSERT_LE(model_.n_logit_rows_of_largest_step(), options_.max_sequences + kKnownLogitRows);
  }
  [[nodiscard]] const Stats& stats() const { return engine_.stats(); }
  [[nodiscard]] i64 n_scored() const { return n_scored_; }
  [[nodiscard]] i64 n_cached() const { return n_cached_; }

 private:
  void step() {
    for (const Outcome& outcome : engine_.step()) {
      const Job job = std::move(jobs_.extract(outcome.key).mapped());
      ASSERT_NO_FATAL_FAILURE(expect_scored(outcome, job));
      if (!job.scoring) continue;
      n_scored_ += std::ssize(*outcome.prompt.logprobs);
      n_cached_ += outcome.prompt.cached_tokens;
      // A logit that is wanted is never passed over.
      ASSERT_LE(outcome.prompt.cached_tokens, std::max<i64>(job.scoring->first - 1, 0) / 16 * 16);
    }
  }

  Random random_;
  Options options_;
  ManualClock clock_;
  test::HistoryModel model_;
  Engine engine_;
  std::map<i64, Job> jobs_;
  i64 n_scored_ = 0;
  i64 n_cached_ = 0;
};

TEST(Scoring, TokensOfAPromptHaveTheModelsLogprobsWhateverElseTheEngineDoes) {
  i64 n_scored = 0, n_cached = 0, n_preempted = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    ScoredRun run(seed);
    run.check();
    if (HasFatalFailure()) return;
    n_scored += run.n_scored();
    n_cached += run.n_cached();
    n_preempted += run.stats().preemptions;
  }
  // The seeds must be such that what they are to try does happen.
  EXPECT_GT(n_scored, 10'000);
  EXPECT_GT(n_cached, 500);
  EXPECT_GT(n_preempted, 50);
}

class LongPrompt : public testing::Test {
 protected:
  static Job job(i64 n_tokens, Scoring scoring, i64 max_tokens = 0) {
    Job out{.sampling = {.temperature = 0.0, .max_tokens = max_tokens}, .scoring = scoring};
    for (i64 i = 0; i < n_tokens; ++i)
      out.prompt.push_back(static_cast<i32>(i * 7 % 22));
    return out;
  }
  Outcome outcome(const Job& job) {
    engine_.submit(job);
    for (;;) {
      auto outcomes = engine_.step();
      if (!outcomes.empty()) return outcomes[0];
    }
  }

  ManualClock clock_;
  test::HistoryModel model_{{.vocab = kVocab, .context = 2000, .n_pages = 200}};
  Engine engine_{model_, tokenizer(), {kEos}, {.max_batch_tokens = 512}, clock_};
};

TEST_F(LongPrompt, NeedsNoLogitsOfAllItsTokensAtOnce) {
  const Job whole = job(2000, {.first = 0, .n_top = 1});

  const auto got = outcome(whole);
  expect_scored(got, whole);
  EXPECT_EQ(got.answer.finish_reason, "length");
  EXPECT_TRUE(got.answer.token_ids.empty());
  EXPECT_LE(model_.n_logit_rows_of_largest_step(), kKnownLogitRows + 1);
}

TEST_F(LongPrompt, WhatIsNotAskedForComesFromTheCacheAndAtFullSpeed) {
  (void)outcome(job(1600, {.first = 1590, .n_top = 0}));
  EXPECT_LE(engine_.stats().n_steps, 4) << "512 rows a step, and no logits of them";
  const auto again = outcome(job(1600, {.first = 1590, .n_top = 0}));
  EXPECT_EQ(again.prompt.cached_tokens, 1584);
  const auto fresh = outcome(job(1600, {.first = 0, .n_top = 0}));
  EXPECT_EQ(fresh.prompt.cached_tokens, 0);
  for (std::size_t i = 0; i < again.prompt.logprobs->size(); ++i)
    EXPECT_EQ(again.prompt.logprobs->at(i).logprob, fresh.prompt.logprobs->at(1590 + i).logprob);
}

TEST_F(LongPrompt, APageThatScoringHasComputedServesAnswers) {
  (void)outcome(job(100, {.first = 0, .n_top = 0}));
  Job plain = job(100, {}, 5);
  plain.scoring.reset();

  EXPECT_EQ(outcome(plain).prompt.cached_tokens, 96);
}

// Scoring all of it takes more than 30 steps.
TEST_F(LongPrompt, WhatWasScoredServesOthersBeforeAllIs) {
  Job scored = job(2000, {.first = 0, .n_top = 0});
  scored.key = 1;
  Job plain = job(100, {}, 5);
  plain.scoring.reset();
  plain.key = 2;

  engine_.submit(scored);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(engine_.step().empty());
  engine_.submit(plain);
  std::vector<Outcome> outcomes;
  for (int i = 0; i < 7 && outcomes.empty(); ++i)
    outcomes = engine_.step();
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].key, plain.key);
  EXPECT_EQ(outcomes[0].prompt.cached_tokens, 96);
}

TEST_F(LongPrompt, OneTokenHasNothingToComputeAndAWholeContextFits) {
  const auto one = outcome(job(1, {.first = 0, .n_top = 2}));
  ASSERT_EQ(one.prompt.logprobs->size(), 1U);
  EXPECT_EQ(one.prompt.logprobs->at(0).id, 0);
  EXPECT_EQ(engine_.stats().prompt_tokens, 0);
  EXPECT_EQ(outcome(job(2000, {.first = 1999, .n_top = 0})).prompt.logprobs->size(), 1U);
}

}  // namespace
}  // namespace sticky::engine
