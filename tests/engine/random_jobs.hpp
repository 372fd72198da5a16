#pragma once

#include <random>

#include <gtest/gtest.h>

#include "sticky/engine/engine.hpp"
#include "tests/support/history_model.hpp"
#include "tests/support/piece_tokenizer.hpp"

namespace sticky::engine {

inline constexpr i64 kVocab = 24;
inline constexpr i64 kContext = 96;
inline constexpr i32 kEos = 23;

inline const test::PieceTokenizer& tokenizer() {
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

/// Prompts that share pages, and parameters of every kind.
inline Job random_job(Random& random, i64 key) {
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
  if (random.once_in(3))
    job.scoring = Scoring{.first = random.between(0, n_prompt), .n_top = random.between(0, 3)};
  return job;
}

using Logprobs = std::optional<std::vector<request::TokenLogprob>>;

inline void expect_equal(const Logprobs& got, const Logprobs& want) {
  ASSERT_EQ(got.has_value(), want.has_value());
  if (!got) return;
  ASSERT_EQ(got->size(), want->size());
  for (std::size_t i = 0; i < got->size(); ++i) {
    const auto& a = (*got)[i];
    const auto& b = (*want)[i];
    ASSERT_EQ(a.id, b.id);
    ASSERT_EQ(a.logprob, b.logprob);
    ASSERT_EQ(a.rank, b.rank);
    ASSERT_EQ(a.top.size(), b.top.size());
    for (std::size_t t = 0; t < a.top.size(); ++t)
      ASSERT_EQ(a.top[t].logprob, b.top[t].logprob);
  }
}

inline void expect_equal(const request::Answer& got, const request::Answer& want) {
  ASSERT_EQ(got.token_ids, want.token_ids);
  ASSERT_EQ(got.text, want.text);
  ASSERT_EQ(got.finish_reason, want.finish_reason);
  expect_equal(got.logprobs, want.logprobs);
}

inline void expect_equal(const Outcome& got, const Outcome& want) {
  ASSERT_NO_FATAL_FAILURE(expect_equal(got.answer, want.answer));
  expect_equal(got.prompt.logprobs, want.prompt.logprobs);
}

/// The outcome of a job that has an engine for itself.
inline Outcome outcome_alone(const Job& job) {
  test::HistoryModel model({.vocab = kVocab, .context = kContext, .n_pages = kContext / 16});
  const ManualClock clock;
  Engine engine(model, tokenizer(), {kEos},
                {.max_sequences = 1, .max_batch_tokens = kContext, .prefix_cache = false}, clock);
  engine.submit(job);
  for (;;) {
    auto outcomes = engine.step();
    if (!outcomes.empty()) return outcomes[0];
  }
}

inline request::Answer alone(const Job& job) {
  return outcome_alone(job).answer;
}

}  // namespace sticky::engine
