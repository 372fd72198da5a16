// Weights that are wrong in one place only, in a real forward pass: who comes across them fails,
// and nobody else is touched.
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "sticky/backend/make_backend.hpp"
#include "sticky/engine/engine.hpp"
#include "sticky/model/load_model.hpp"
#include "tests/model/memory_checkpoint.hpp"
#include "tests/support/piece_tokenizer.hpp"

namespace sticky::engine {
namespace {

constexpr i32 kPoison = 7;  // the token whose embedding is wrong

class NotFinite : public testing::TestWithParam<float> {
 protected:
  NotFinite() {
    auto checkpoint = test::small_llama();
    std::vector<float> rows = checkpoint.values("model.embed_tokens.weight");
    rows[static_cast<std::size_t>(kPoison) * 20 + 3] = GetParam();
    checkpoint.put("model.embed_tokens.weight", {40, 20}, rows);
    // Never chosen, so that only prompts bring it.
    std::vector<float> head = checkpoint.values("lm_head.weight");
    std::fill_n(head.begin() + static_cast<std::ptrdiff_t>(kPoison) * 20, 20, 0.0F);
    checkpoint.put("lm_head.weight", {40, 20}, head);
    model_ = model::load_model(
        checkpoint, backend::make_backend({.kind = "cpu", .dtype = "f32", .n_threads = 1}),
        {.kv_tokens = 128, .max_batch_tokens = 32});
  }
  [[nodiscard]] std::unique_ptr<Engine> engine() {
    return std::make_unique<Engine>(*model_, tokenizer_, std::vector<i32>{},
                                    Options{.max_batch_tokens = 24}, clock_);
  }
  static Job job(i64 key, std::vector<i32> prompt) {
    return {
        .key = key, .prompt = std::move(prompt), .sampling = {.temperature = 0.0, .max_tokens = 6}};
  }
  static void take(std::vector<Outcome> from, std::map<i64, Outcome>& to) {
    for (Outcome& o : from)
      to[o.key] = std::move(o);
  }
  static std::map<i64, Outcome> finish(Engine& engine) {
    std::map<i64, Outcome> outcomes;
    while (!engine.idle())
      take(engine.step(), outcomes);
    return outcomes;
  }
  [[nodiscard]] std::vector<i32> alone(const std::vector<i32>& prompt) {
    const auto fresh = engine();
    fresh->submit(job(1, prompt));
    return finish(*fresh)[1].answer.token_ids;
  }

  ManualClock clock_;
  test::PieceTokenizer tokenizer_{std::vector<std::string>(40, "x")};
  std::unique_ptr<model::LanguageModel> model_;
};

// Of the 30 tokens, 24 are computed in the first step: a page of 16 that is sound by itself, and
// with it the poison behind it.
std::vector<i32> poisoned_behind_a_page() {
  std::vector<i32> prompt(30, 3);
  for (i32 i = 0; i < 16; ++i)
    prompt[static_cast<std::size_t>(i)] = 10 + i;
  prompt[16] = kPoison;
  return prompt;
}

TEST_P(NotFinite, WhoSharesABeginningWithAFailedOneIsAnsweredAsAlone) {
  const auto poisoned = poisoned_behind_a_page();
  std::vector<i32> sound(poisoned.begin(), poisoned.begin() + 16);
  sound.push_back(5);
  const auto expected = alone(sound);

  for (const int n_steps_between : {0, 1, 2}) {
    const auto engine = this->engine();
    std::map<i64, Outcome> early;
    engine->submit(job(1, poisoned));
    for (int i = 0; i < n_steps_between; ++i)
      take(engine->step(), early);
    engine->submit(job(2, sound));
    auto outcomes = finish(*engine);
    outcomes.merge(early);

    EXPECT_NE(outcomes[1].fault, "") << n_steps_between;
    EXPECT_EQ(outcomes[2].fault, "") << n_steps_between;
    EXPECT_EQ(outcomes[2].answer.token_ids, expected) << n_steps_between;
  }
}

TEST_P(NotFinite, PagesOfAFailedOneServeAgain) {
  const std::vector<i32> sound{1, 2, 5};
  const auto expected = alone(sound);
  const auto engine = this->engine();

  // 8 pages: each is used by a failed sequence before the sound ones come.
  for (i64 key = 1; key <= 8; ++key)
    engine->submit(job(key, std::vector<i32>(20, kPoison)));
  for (auto& [key, outcome] : finish(*engine))
    EXPECT_NE(outcome.fault, "") << key;
  for (i64 key = 11; key <= 18; ++key)
    engine->submit(job(key, sound));

  for (auto& [key, outcome] : finish(*engine)) {
    EXPECT_EQ(outcome.fault, "") << key;
    EXPECT_EQ(outcome.answer.token_ids, expected) << key;
  }
}

TEST_P(NotFinite, ATextThatBringsThePoisonWithItFailsOnceAndItsPagesAreFoundByNobody) {
  const std::vector<i32> prompt(18, 3);
  const auto together = engine();
  Job poisoned = job(1, prompt);
  poisoned.sampling.top_logprobs = 0;
  poisoned.made = {4, kPoison, 5, 6};
  together->submit(poisoned);
  i64 n_outcomes = 0;
  while (!together->idle()) {
    for (const Outcome& outcome : together->step()) {
      EXPECT_FALSE(outcome.fault.empty());
      ++n_outcomes;
    }
  }
  EXPECT_EQ(n_outcomes, 1);
  together->submit(job(2, prompt));

  EXPECT_EQ(finish(*together)[2].answer.token_ids, alone(prompt));
}

// The last token of a prompt that is only scored is not computed: nothing is asked of it.
TEST_P(NotFinite, APromptThatIsScoredBehindThePoisonFailsAndOneThatEndsWithItDoesNot) {
  const auto engine = this->engine();
  Job behind = job(1, {1, kPoison, 5}), last = job(2, {1, 5, kPoison}), before = job(3, {1, 5, 2});
  for (Job* one : {&behind, &last, &before}) {
    one->sampling.max_tokens = 0;
    one->scoring = Scoring{.first = 1, .n_top = 1};
    engine->submit(*one);
  }
  auto outcomes = finish(*engine);

  EXPECT_NE(outcomes[1].fault, "");
  EXPECT_EQ(outcomes[2].fault, "");
  EXPECT_EQ(outcomes[3].fault, "");
  EXPECT_EQ(outcomes[2].prompt.logprobs->at(0).logprob, outcomes[3].prompt.logprobs->at(0).logprob);
}

INSTANTIATE_TEST_SUITE_P(Weights,
                         NotFinite,
                         testing::Values(std::numeric_limits<float>::quiet_NaN(),
                                         std::numeric_limits<float>::infinity()));

}  // namespace
}  // namespace sticky::engine
