// Log probabilities of prompts, as an engine gives them, against what transformers computes in
// fp32: the recorded logits of tiny models, normalised here in double precision, and the recorded
// log probabilities of their greedy continuations. kTolerance of a logit is twice that of a
// difference of two.
#include <algorithm>
#include <cmath>

#include "sticky/base/clock.hpp"
#include "sticky/engine/engine.hpp"
#include "tests/conformance/tiny_model.hpp"

namespace sticky::test {
namespace {

constexpr double kTolerance = 2e-3;
constexpr i64 kTop = 5;

class Scored : public testing::TestWithParam<const char*> {
 protected:
  /// What an engine says of prompts that are only scored, all of them at once.
  std::vector<std::vector<request::TokenLogprob>> score(
      const std::vector<std::vector<i32>>& prompts, bool has_cache = true) const {
    const auto model = tiny_.load();
    const auto text = tokenizer::load_from_folder(tiny_.folder());
    const SteadyClock clock;
    engine::Engine engine(*model, *text.tokenizer, {}, {.prefix_cache = has_cache}, clock);
    for (std::size_t i = 0; i < prompts.size(); ++i)
      engine.submit({.key = static_cast<i64>(i),
                     .prompt = prompts[i],
                     .sampling = {.max_tokens = 0},
                     .scoring = engine::Scoring{.first = 0, .n_top = kTop}});
    std::vector<std::vector<request::TokenLogprob>> out(prompts.size());
    while (!engine.idle()) {
      for (engine::Outcome& outcome : engine.step())
        out[static_cast<std::size_t>(outcome.key)] = std::move(*outcome.prompt.logprobs);
    }
    return out;
  }

  const TinyModel tiny_{GetParam()};
};

TEST_P(Scored, EveryTokenOfAPromptHasTheLogprobAndRankOfTransformersLogits) {
  const auto ids = tiny_.prompt("p17");
  const auto logits = tiny_.tensors.floats("logits.p17");  // of all positions and the whole vocab
  const std::size_t vocab = logits.size() / ids.size();
  const auto scored = score({ids})[0];
  ASSERT_EQ(scored.size(), ids.size());

  for (std::size_t t = 1; t < ids.size(); ++t) {
    SCOPED_TRACE(t);
    const std::span<const float> row(&logits[(t - 1) * vocab], vocab);
    double sum = 0.0;
    for (const float logit : row)
      sum += std::exp(double{logit});
    const double normalizer = std::log(sum);
    const double own = row[static_cast<std::size_t>(ids[t])];
    EXPECT_EQ(scored[t].id, ids[t]);
    EXPECT_NEAR(scored[t].logprob, own - normalizer, kTolerance);
    // Where logits lie closer than the tolerance their order is open.
    const auto n_above = std::ranges::count_if(row, [&](float x) { return x > own + kTolerance; });
    const auto n_near = std::ranges::count_if(row, [&](float x) { return x >= own - kTolerance; });
    EXPECT_GT(scored[t].rank, n_above);
    EXPECT_LE(scored[t].rank, n_near);
    std::vector<double> best(row.begin(), row.end());
    std::ranges::sort(best, std::greater<>());
    ASSERT_EQ(std::ssize(scored[t].top), kTop);
    for (std::size_t k = 0; k < kTop; ++k) {
      const auto& other = scored[t].top[k];
      EXPECT_NEAR(other.logprob, best[k] - normalizer, kTolerance);
      EXPECT_NEAR(other.logprob, row[static_cast<std::size_t>(other.id)] - normalizer, kTolerance);
    }
  }
}

// Prompt and recorded continuation together are a prompt.
TEST_P(Scored, RecordedContinuationsHaveTheRecordedLogprobs) {
  std::vector<std::vector<i32>> prompts;
  std::vector<std::vector<double>> expected;
  for (const auto& [name, run] : tiny_.cases.find("greedy")->as_object()) {
    auto& prompt = prompts.emplace_back(tiny_.prompt(name));
    const auto new_ids = ids_of(*run.find("new_ids"));
    prompt.insert(prompt.end(), new_ids.begin(), new_ids.end());
    auto& logprobs = expected.emplace_back();
    for (const Json& logprob : run.find("logprobs")->as_array())
      logprobs.push_back(logprob.as_double());
  }
  ASSERT_GE(prompts.size(), 4U);
  // The same again finds pages of the first in the cache, and must not use those that it scores.
  const auto once = score(prompts);
  const auto without_cache = score(prompts, false);
  auto doubled = prompts;
  doubled.insert(doubled.end(), prompts.begin(), prompts.end());
  const auto twice = score(doubled);

  for (std::size_t i = 0; i < doubled.size(); ++i) {
    const auto& want = expected[i % expected.size()];
    ASSERT_EQ(twice[i].size(), doubled[i].size());
    const std::size_t first = doubled[i].size() - want.size();
    for (std::size_t k = 0; k < want.size(); ++k)
      EXPECT_NEAR(twice[i][first + k].logprob, want[k], kTolerance) << "prompt " << i << " + " << k;
    for (std::size_t t = 0; t < twice[i].size(); ++t) {
      ASSERT_EQ(twice[i][t].logprob, once[i % expected.size()][t].logprob);
      ASSERT_EQ(twice[i][t].logprob, without_cache[i % expected.size()][t].logprob);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Scored, testing::ValuesIn(kModels), model_test_name);

}  // namespace
}  // namespace sticky::test
