#include "sticky/engine/engine.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "tests/support/history_model.hpp"
#include "tests/support/piece_tokenizer.hpp"

namespace sticky::engine {
namespace {

using request::Sampling;
using std::chrono::milliseconds;

constexpr model::Limits kLimits{.vocab = 10, .context = 64, .n_pages = 16};
constexpr i32 kEos = 9;

/// Says what it is told to: logits are given by a function of the row's token and position.
class ScriptedModel final : public model::LanguageModel {
 public:
  using Script = std::function<void(i32 token, i64 position, std::span<float> logits)>;
  ScriptedModel(const model::Limits& limits, Script script)
      : limits_(limits),
        script_(std::move(script)) {}

  [[nodiscard]] model::Limits limits() const override { return limits_; }
  void forward(const model::StepBatch& batch, Rows<float> logits) override {
    ++n_steps;
    for (i64 i = 0; i < logits.rows; ++i) {
      const i32 row = batch.logit_rows[static_cast<std::size_t>(i)];
      for (const SequenceRows& s : batch.sequences) {
        if (row < s.first_row || row >= s.first_row + s.n_rows) continue;
        const std::span<float> out(logits.row(i), static_cast<std::size_t>(logits.cols));
        std::ranges::fill(out, 0.0F);
        script_(batch.tokens[static_cast<std::size_t>(row)], s.first_position + row - s.first_row,
                out);
      }
    }
    if (after_step) after_step();
  }

  i64 n_steps = 0;
  std::function<void()> after_step;

 private:
  model::Limits limits_;
  Script script_;
};

/// The next token is the one after this: 0 1 2 3 …, so that a text is known beforehand.
void count_up(i32 token, i64 /*position*/, std::span<float> logits) {
  logits[static_cast<std::size_t>(token + 1) % logits.size()] = 5.0F;
}

std::vector<Outcome> run(Engine& engine) {
  std::vector<Outcome> outcomes;
  for (int i = 0; i < 1000 && !engine.idle(); ++i) {
    for (Outcome& o : engine.step())
      outcomes.push_back(std::move(o));
  }
  EXPECT_TRUE(engine.idle());
  return outcomes;
}

class EngineTest : public testing::Test {
 protected:
  request::Answer answer(const Sampling& sampling, std::vector<i32> prompt = {0}) {
    return answer_of(Job{.prompt = std::move(prompt), .sampling = sampling});
  }
  request::Answer answer_of(Job job) {
    Engine engine(model_, tokenizer_, {kEos}, {}, clock_);
    engine.submit(std::move(job));
    auto outcomes = run(engine);
    EXPECT_EQ(outcomes.size(), 1U);
    return outcomes.at(0).answer;
  }

  // Token 8 is special without ending anything.
  test::PieceTokenizer tokenizer_{{"a", "b", "cd", "e", "fgh", "\xC3", "\xA4", "i", "<x>", "</s>"},
                                  {8, kEos}};
  ScriptedModel model_{kLimits, count_up};
  ManualClock clock_;
};

TEST_F(EngineTest, EosEndsATextAndIsATokenButNoText) {
  const auto a = answer({.temperature = 0.0});
  EXPECT_EQ(a.token_ids, (std::vector<i32>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(a.text, "bcdefgh\u00E4i");
  EXPECT_EQ(a.finish_reason, "stop");
  EXPECT_FALSE(a.logprobs.has_value());
}

TEST_F(EngineTest, MaxTokensEndsAText) {
  const auto a = answer({.temperature = 0.0, .max_tokens = 3});
  EXPECT_EQ(a.token_ids, (std::vector<i32>{1, 2, 3}));
  EXPECT_EQ(a.text, "bcde");
  EXPECT_EQ(a.finish_reason, "length");
}

TEST_F(EngineTest, EosAsTheLastPossibleTokenIsAStop) {
  EXPECT_EQ(answer({.temperature = 0.0, .max_tokens = 9}).finish_reason, "stop");
}

TEST_F(EngineTest, NoTokensAskedNoneComputed) {
  const auto a = answer({.max_tokens = 0});
  EXPECT_TRUE(a.token_ids.empty());
  EXPECT_EQ(a.finish_reason, "length");
  EXPECT_EQ(model_.n_steps, 0);
}

TEST_F(EngineTest, HalfACharacterAtTheEndBecomesAReplacement) {
  EXPECT_EQ(answer({.temperature = 0.0, .max_tokens = 5}).text, "bcdefgh\uFFFD");
}

TEST_F(EngineTest, TheContextEndsAText) {
  const auto a = answer({.temperature = 0.0, .ignore_eos = true}, std::vector<i32>(60, 0));
  EXPECT_EQ(a.token_ids, (std::vector<i32>{1, 2, 3, 4}));
  EXPECT_EQ(a.finish_reason, "length");

  const auto b = answer({.temperature = 0.0}, std::vector<i32>(63, 0));
  EXPECT_EQ(b.token_ids, (std::vector<i32>{1}));
}

TEST_F(EngineTest, IgnoredEosIsATokenLikeOthers) {
  const auto a = answer({.temperature = 0.0, .max_tokens = 11, .ignore_eos = true});
  EXPECT_EQ(a.token_ids, (std::vector<i32>{1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1}));
  EXPECT_EQ(a.text, "bcdefgh\u00E4iab");
}

TEST_F(EngineTest, StopTokensEndATextAndAreNoText) {
  const auto a = answer({.temperature = 0.0, .stop_token_ids = {7, 3}});
  EXPECT_EQ(a.token_ids, (std::vector<i32>{1, 2, 3}));
  EXPECT_EQ(a.text, "bcd");
  EXPECT_EQ(a.finish_reason, "stop");
}

TEST_F(EngineTest, StopStringsAreFoundInsideTokensAndAcrossThem) {
  const auto inside = answer({.temperature = 0.0, .stop = {"g"}});
  EXPECT_EQ(inside.text, "bcdef");
  EXPECT_EQ(inside.token_ids, (std::vector<i32>{1, 2, 3, 4}));
  EXPECT_EQ(inside.finish_reason, "stop");

  const auto across = answer({.temperature = 0.0, .stop = {"zz", "def"}});
  EXPECT_EQ(across.text, "bc");
  EXPECT_EQ(across.token_ids, (std::vector<i32>{1, 2, 3, 4}));

  const auto included =
      answer({.temperature = 0.0, .stop = {"def"}, .include_stop_str_in_output = true});
  EXPECT_EQ(included.text, "bcdef");

  const auto character = answer({.temperature = 0.0, .stop = {"\u00E4"}});
  EXPECT_EQ(character.text, "bcdefgh");
  EXPECT_EQ(character.token_ids.back(), 6);
}

TEST_F(EngineTest, AStopStringInTheLastTokenIsAStop) {
  EXPECT_EQ(answer({.temperature = 0.0, .max_tokens = 2, .stop = {"d"}}).finish_reason, "stop");
}

TEST_F(EngineTest, MinTokensKeepsEnoughFromEnding) {
  // EOS is the model's next token, and forbidden once.
  const auto a = answer({.temperature = 0.0, .max_tokens = 5, .min_tokens = 1}, {8});
  EXPECT_EQ(a.token_ids.size(), 5U);
  EXPECT_EQ(a.token_ids[0], 0);
  EXPECT_EQ(answer({.temperature = 0.0, .max_tokens = 5}, {8}).token_ids, std::vector<i32>{9});

  const auto b = answer({.temperature = 0.0, .min_tokens = 4, .stop = {"b", "h"}});
  EXPECT_EQ(b.text, "bcdefg");
}

TEST_F(EngineTest, BiasChangesTheChoiceAndNotTheLogprobs) {
  const auto a =
      answer({.temperature = 0.0, .logit_bias = {{3, 100.0}}, .max_tokens = 1, .top_logprobs = 2});
  EXPECT_EQ(a.token_ids, std::vector<i32>{3});
  // Of ten logits one is 5, the others 0.
  const double normalizer = std::log(std::exp(5.0) + 9.0);
  ASSERT_EQ(a.logprobs->size(), 1U);
  const auto& logprob = a.logprobs->at(0);
  EXPECT_EQ(logprob.id, 3);
  EXPECT_EQ(logprob.piece, "e");
  EXPECT_NEAR(logprob.logprob, -normalizer, 1e-14);
  ASSERT_EQ(logprob.top.size(), 2U);
  EXPECT_EQ(logprob.top[0].id, 1);
  EXPECT_NEAR(logprob.top[0].logprob, 5.0 - normalizer, 1e-14);
  EXPECT_EQ(logprob.top[1].id, 0) << "the lowest of equals";
}

TEST_F(EngineTest, LogprobsStandForEachTokenTheEndIncluded) {
  const auto a = answer({.temperature = 0.0, .top_logprobs = 0});
  ASSERT_EQ(a.logprobs->size(), a.token_ids.size());
  for (std::size_t i = 0; i < a.token_ids.size(); ++i) {
    EXPECT_EQ(a.logprobs->at(i).id, a.token_ids[i]);
    EXPECT_TRUE(a.logprobs->at(i).top.empty());
  }
}

TEST_F(EngineTest, ImpossibleTokensHaveAFiniteLogprob) {
  ScriptedModel model(kLimits, [](i32, i64, std::span<float> logits) {
    std::ranges::fill(logits, std::numeric_limits<float>::lowest());
    logits[2] = 1.0F;
  });
  Engine engine(model, tokenizer_, {kEos}, {}, clock_);
  engine.submit(
      {.prompt = {0}, .sampling = {.temperature = 0.0, .max_tokens = 1, .top_logprobs = 3}});

  const auto outcomes = run(engine);
  const auto& logprob = outcomes.at(0).answer.logprobs->at(0);
  EXPECT_EQ(logprob.id, 2);
  EXPECT_EQ(logprob.logprob, 0.0);
  EXPECT_EQ(logprob.top.at(1).logprob, -9999.0);
  EXPECT_EQ(logprob.top.at(2).logprob, -9999.0);
}

TEST_F(EngineTest, LogitsThatAreNotFiniteAreAFaultAndNoAnswer) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (const double temperature : {0.0, 1.0}) {
      for (const std::size_t at : {0U, 9U}) {
        // Token 2 makes one logit bad: sequences that come there end, their neighbour counts on.
        ScriptedModel model(kLimits, [&](i32 token, i64 position, std::span<float> logits) {
          count_up(token, position, logits);
          logits[static_cast<std::size_t>(token + 1) % logits.size()] = 1000.0F;
          if (token == 2) logits[at] = bad;
        });
        Engine engine(model, tokenizer_, {kEos}, {}, clock_);
        engine.submit({.key = 1, .prompt = {0}, .sampling = {.temperature = temperature}});
        engine.submit({.key = 2, .prompt = {2}, .sampling = {.temperature = temperature}});
        engine.submit({.key = 3, .prompt = {3}, .sampling = {.temperature = temperature}});

        std::map<i64, Outcome> outcomes;
        for (Outcome& o : run(engine))
          outcomes[o.key] = std::move(o);

        ASSERT_EQ(outcomes.size(), 3U);
        EXPECT_NE(outcomes[1].fault.find("not finite"), std::string::npos) << bad;
        EXPECT_NE(outcomes[2].fault.find("not finite"), std::string::npos) << bad;
        EXPECT_EQ(outcomes[3].fault, "");
        EXPECT_EQ(outcomes[3].answer.token_ids, (std::vector<i32>{4, 5, 6, 7, 8, kEos}));
      }
    }
  }
}

TEST_F(EngineTest, PenaltiesFollowTheSequence) {
  // Flat but for a slight preference of token 0: a presence penalty makes each token come once.
  ScriptedModel model(kLimits, [](i32, i64, std::span<float> logits) {
    for (std::size_t i = 0; i < logits.size(); ++i)
      logits[i] = -0.01F * static_cast<float>(i);
  });
  Engine engine(model, tokenizer_, {kEos}, {}, clock_);
  engine.submit({.prompt = {0, 1},
                 .sampling = {.temperature = 0.0, .presence_penalty = 1.0, .max_tokens = 4}});
  engine.submit({.prompt = {0, 1},
                 .sampling = {.temperature = 0.0, .repetition_penalty = 1000.0, .max_tokens = 4}});

  const auto outcomes = run(engine);
  EXPECT_EQ(outcomes.at(0).answer.token_ids, (std::vector<i32>{0, 1, 2, 3}));
  // Repetition counts the prompt; the logit 0 of token 0 cannot be scaled.
  EXPECT_EQ(outcomes.at(1).answer.token_ids, (std::vector<i32>{0, 0, 0, 0}));
}

TEST_F(EngineTest, ASeedGivesTheSameTextToEveryIdentityAndNoSeedItsOwn) {
  test::HistoryModel model(kLimits);
  const auto tokens = [&](std::optional<i64> seed, std::uint64_t identity, std::uint64_t run_seed) {
    Engine engine(model, tokenizer_, {}, {.run_seed = run_seed}, clock_);
    engine.submit({.prompt = {1, 2, 3},
                   .sampling = {.temperature = 1.0, .seed = seed, .max_tokens = 20},
                   .identity = {.high = 0, .low = identity}});
    return run(engine).at(0).answer.token_ids;
  };

  EXPECT_EQ(tokens(7, 1, 1), tokens(7, 2, 5));
  EXPECT_NE(tokens(7, 1, 1), tokens(8, 1, 1));
  EXPECT_EQ(tokens({}, 1, 1), tokens({}, 1, 1));
  EXPECT_NE(tokens({}, 1, 1), tokens({}, 2, 1));
  EXPECT_NE(tokens({}, 1, 1), tokens({}, 1, 2));
}

TEST_F(EngineTest, TimesAreThoseOfTheClock) {
  Engine engine(model_, tokenizer_, {kEos}, {.max_sequences = 1, .max_batch_tokens = 2}, clock_);
  model_.after_step = [&] { clock_.advance(milliseconds(10)); };
  engine.submit({.key = 1, .prompt = {0, 0, 0}, .sampling = {.temperature = 0.0, .max_tokens = 4}});
  engine.submit({.key = 2, .prompt = {0}, .sampling = {.temperature = 0.0, .max_tokens = 1}});

  const auto outcomes = run(engine);
  // Two steps of prompt, three more of decoding; the second starts when the first has ended.
  EXPECT_EQ(outcomes.at(0).key, 1);
  EXPECT_NEAR(outcomes.at(0).queued_seconds, 0.0, 1e-12);
  EXPECT_NEAR(outcomes.at(0).prefill_seconds, 0.02, 1e-12);
  EXPECT_NEAR(outcomes.at(0).decode_seconds, 0.03, 1e-12);
  EXPECT_EQ(outcomes.at(1).key, 2);
  EXPECT_NEAR(outcomes.at(1).queued_seconds, 0.05, 1e-12);
  EXPECT_NEAR(outcomes.at(1).prefill_seconds, 0.01, 1e-12);
  EXPECT_NEAR(outcomes.at(1).decode_seconds, 0.0, 1e-12);
}

TEST_F(EngineTest, ACancelledJobIsForgottenWaitingOrRunning) {
  Engine engine(model_, tokenizer_, {kEos}, {.max_sequences = 1}, clock_);
  const Sampling three{.temperature = 0.0, .max_tokens = 3};
  for (i64 key = 1; key <= 3; ++key)
    engine.submit({.key = key, .prompt = {0}, .sampling = three});
  EXPECT_TRUE(engine.step().empty());

  EXPECT_FALSE(engine.is_untouched(1));
  EXPECT_TRUE(engine.is_untouched(2));
  EXPECT_EQ(engine.cancel(1), std::vector<i32>{1});
  EXPECT_EQ(engine.cancel(2), std::vector<i32>{});
  EXPECT_EQ(engine.cancel(2), std::nullopt);
  EXPECT_EQ(engine.n_jobs(), 1);
  const auto outcomes = run(engine);
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].key, 3);
  EXPECT_EQ(engine.cancel(3), std::nullopt);
}

TEST_F(EngineTest, AStepWithoutJobsDoesNothing) {
  Engine engine(model_, tokenizer_, {kEos}, {}, clock_);
  EXPECT_TRUE(engine.step().empty());
  EXPECT_TRUE(engine.idle());
  EXPECT_EQ(engine.stats().n_steps, 0);
  EXPECT_EQ(model_.n_steps, 0);
}

TEST_F(EngineTest, ACacheThatCannotHoldTheContextIsRefused) {
  ScriptedModel model({.vocab = 10, .context = 64, .n_pages = 3}, count_up);
  EXPECT_THROW(Engine(model, tokenizer_, {kEos}, {}, clock_), ConfigError);
}

TEST_F(EngineTest, ASharedPrefixIsComputedOnce) {
  test::HistoryModel model({.vocab = 10, .context = 160, .n_pages = 400});
  Engine engine(model, tokenizer_, {}, {}, clock_);
  constexpr i64 kJobs = 100;
  constexpr i64 kShared = 69;  // 4 pages and 5 tokens
  constexpr i64 kOwn = 44;
  for (i64 key = 0; key < kJobs; ++key) {
    Job job{.key = key, .sampling = {.temperature = 0.0, .max_tokens = 4}};
    for (i64 i = 0; i < kShared; ++i)
      job.prompt.push_back(static_cast<i32>(i * i % 7));
    for (i64 i = 0; i < kOwn; ++i)
      job.prompt.push_back(static_cast<i32>((key >> (i % 8)) % 2));
    engine.submit(std::move(job));
  }

  const auto outcomes = run(engine);
  EXPECT_EQ(outcomes.size(), static_cast<std::size_t>(kJobs));
  EXPECT_EQ(engine.stats().prompt_tokens, 64 + kJobs * (kShared + kOwn - 64));
  EXPECT_EQ(engine.stats().cached_tokens, (kJobs - 1) * 64);
  EXPECT_EQ(engine.stats().generated_tokens, kJobs * 4);
  EXPECT_EQ(outcomes.at(0).prompt.cached_tokens, 0);
  EXPECT_EQ(outcomes.at(1).prompt.cached_tokens, 64);
}

}  // namespace
}  // namespace sticky::engine
