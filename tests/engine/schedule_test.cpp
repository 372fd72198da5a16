// Answers must not depend on what else an engine does: thousands of seeded schedules, each answer
// compared with that of its job alone.
#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "sticky/engine/engine.hpp"
#include "tests/support/history_model.hpp"
#include "tests/support/piece_tokenizer.hpp"

namespace sticky::engine {
namespace {

constexpr i64 kVocab = 24;
constexpr i64 kContext = 96;
constexpr i32 kEos = 23;

const test::PieceTokenizer& tokenizer() {
  static const test::PieceTokenizer kTokenizer(
      {"a", "b", "c",    "ab",   "bc",   "ca",   " ", "  ", "d", "e", "f",   "\xC3",
       "g", "h", "\xA4", "\xE2", "\x82", "\xAC", "i", "j",  "k", "l", "<x>", "</s>"},
      {22, kEos});
  return kTokenizer;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  i64 between(i64 low, i64 high) { return low + static_cast<i64>(engine_()) % (high - low + 1); }
  bool once_in(i64 n) { return between(1, n) == 1; }

 private:
  std::mt19937 engine_;
};

Job random_job(Random& random, i64 key) {
  Job job{.key = key, .identity = {.high = 5, .low = static_cast<std::uint64_t>(key)}};
  // Known pages, of which there are two for each place, then tokens of its own.
  const i64 n_prompt = random.between(1, random.once_in(2) ? 20 : kContext - 1);
  const i64 n_known = random.between(0, n_prompt);
  i64 variant = 1;
  for (i64 i = 0; i < n_prompt; ++i) {
    if (i % kPageTokens == 0) variant = random.once_in(4) ? 2 : 1;
    const i64 known = (i * variant + 1) % 22;
    job.prompt.push_back(static_cast<i32>(i < n_known ? known : random.between(0, kVocab - 1)));
  }
  request::Sampling& s = job.sampling;
  s.temperature = random.once_in(2) ? 0.0 : 0.8;
  if (random.once_in(4)) s.top_p = 0.7;
  if (random.once_in(4)) s.top_k = 5;
  if (random.once_in(4)) s.seed = random.between(0, 3);
  if (random.once_in(4)) s.repetition_penalty = 1.2;
  if (random.once_in(4)) s.frequency_penalty = 0.3;
  if (random.once_in(3)) s.stop = {"bc", "\u00E4", "ab c"};
  if (random.once_in(4)) s.stop_token_ids = {12};
  if (random.once_in(4)) s.min_tokens = random.between(1, 6);
  if (random.once_in(3)) s.max_tokens = random.between(0, 40);
  if (random.once_in(3)) s.top_logprobs = random.between(0, 3);
  s.ignore_eos = random.once_in(2);
  s.include_stop_str_in_output = random.once_in(2);
  return job;
}

void expect_equal(const request::Answer& got, const request::Answer& want) {
  ASSERT_EQ(got.token_ids, want.token_ids);
  ASSERT_EQ(got.text, want.text);
  ASSERT_EQ(got.finish_reason, want.finish_reason);
  ASSERT_EQ(got.logprobs.has_value(), want.logprobs.has_value());
  if (!got.logprobs) return;
  ASSERT_EQ(got.logprobs->size(), want.logprobs->size());
  for (std::size_t i = 0; i < got.logprobs->size(); ++i) {
    const auto& a = (*got.logprobs)[i];
    const auto& b = (*want.logprobs)[i];
    ASSERT_EQ(a.id, b.id);
    ASSERT_EQ(a.logprob, b.logprob);
    ASSERT_EQ(a.top.size(), b.top.size());
    for (std::size_t t = 0; t < a.top.size(); ++t)
      ASSERT_EQ(a.top[t].logprob, b.top[t].logprob);
  }
}

request::Answer alone(const Job& job) {
  test::HistoryModel model({.vocab = kVocab, .context = kContext, .n_pages = kContext / 16});
  const ManualClock clock;
  Engine engine(model, tokenizer(), {kEos},
                {.max_sequences = 1, .max_batch_tokens = kContext, .prefix_cache = false}, clock);
  engine.submit(job);
  for (;;) {
    auto outcomes = engine.step();
    if (!outcomes.empty()) return outcomes[0].answer;
  }
}

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
        ASSERT_NO_FATAL_FAILURE(expect_equal(outcome.answer, expected_.at(outcome.key)));
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
    expected_[job.key] = alone(job);
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
  std::map<i64, request::Answer> expected_;
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
