#include "src/engine/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "sticky/base/json.hpp"
#include "sticky/base/random.hpp"

namespace sticky::engine {
namespace {

using request::Sampling;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kF32Roundoff = 0x1p-24;

std::vector<float> random_logits(i64 n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, 3.0F);
  std::vector<float> logits(static_cast<std::size_t>(n));
  std::ranges::generate(logits, [&] { return normal(random); });
  return logits;
}

std::vector<float> processed(std::span<const float> logits,
                             const Sampling& sampling,
                             const TokenCounts& counts = {},
                             std::span<const i32> banned = {}) {
  Sampler sampler;
  const auto result = sampler.processed(logits, {sampling, counts, banned});
  return {result.begin(), result.end()};
}

// Best first, as probabilities.
std::vector<WeightedToken> distribution(std::span<const float> logits, const Sampling& sampling) {
  Sampler sampler;
  const auto kept = sampler.kept(logits, sampling);
  std::vector<WeightedToken> tokens(kept.begin(), kept.end());
  double total = 0.0;
  for (const auto& t : tokens)
    total += t.weight;
  for (auto& t : tokens)
    t.weight /= total;
  std::ranges::sort(tokens, [](const auto& a, const auto& b) {
    return a.weight > b.weight || (a.weight == b.weight && a.id < b.id);
  });
  return tokens;
}

Json read_golden() {
  std::ifstream file(STICKY_TEST_DATA "/sampler/sampler.json");
  std::stringstream text;
  text << file.rdbuf();
  return Json::parse(text.str());
}

double number_or(const Json& settings, const char* name, double otherwise) {
  const Json* value = settings.find(name);
  return value == nullptr ? otherwise : value->as_double();
}

TEST(Sampler, LeavesWhatTransformersLeaves) {
  const Json golden = read_golden();
  std::vector<float> logits;
  for (const Json& x : golden.find("logits")->as_array()) {
    logits.push_back(static_cast<float>(x.as_double()));
  }
  std::vector<i32> seen;
  for (const Json& id : golden.find("seen")->as_array()) {
    seen.push_back(static_cast<i32>(id.as_integer()));
  }
  TokenCounts counts;
  counts.add_prompt(seen);

  ASSERT_EQ(golden.find("cases")->as_array().size(), 18U);
  for (const Json& c : golden.find("cases")->as_array()) {
    const Json& settings = *c.find("settings");
    SCOPED_TRACE(settings.dump());
    const Sampling sampling{.temperature = number_or(settings, "temperature", 1.0),
                            .top_p = number_or(settings, "top_p", 1.0),
                            .top_k = static_cast<i64>(number_or(settings, "top_k", 0.0)),
                            .min_p = number_or(settings, "min_p", 0.0),
                            .repetition_penalty = number_or(settings, "repetition_penalty", 1.0)};

    auto tokens = distribution(processed(logits, sampling, counts), sampling);

    // The recorded probabilities are f32: what is below half its smallest number is 0 there.
    std::erase_if(tokens, [](const auto& t) { return static_cast<float>(t.weight) == 0.0F; });
    EXPECT_EQ(std::ssize(tokens), c.find("kept")->as_integer());
    const auto& ids = c.find("ids")->as_array();
    const auto& probs = c.find("probs")->as_array();
    ASSERT_GE(tokens.size(), ids.size());
    // f32 rounds logit / temperature, its difference to the best and e^x: the first two enter the
    // exponent as they are. Then a sum of 256 terms; and 8 recorded digits.
    const double highest_exponent = 8.0 / sampling.temperature;
    const double relative = (4.0 * highest_exponent + 256.0) * kF32Roundoff;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const double want = probs[i].as_double();
      // Below f32's normal numbers the recorded order is that of rounded numbers.
      if (want < std::numeric_limits<float>::min()) continue;
      EXPECT_EQ(tokens[i].id, ids[i].as_integer()) << "rank " << i;
      EXPECT_NEAR(tokens[i].weight, want, want * relative) << "rank " << i;
    }
  }
}

TEST(Sampler, GreedyTakesTheLowestOfEqualLogits) {
  std::vector<float> logits = random_logits(1000, 1);
  logits[700] = logits[300] = logits[999] = 50.0F;
  EXPECT_EQ(argmax(logits), 300);
  logits[300] = kNan;
  EXPECT_EQ(argmax(logits), 700);
}

TEST(Sampler, ArgmaxFindsTheBestAtEveryPlace) {
  for (const i64 n : {1, 15, 16, 17, 31, 33, 100}) {
    for (i64 best = 0; best < n; ++best) {
      std::vector<float> logits(static_cast<std::size_t>(n), -3.0F);
      logits[static_cast<std::size_t>(best)] = -2.0F;
      ASSERT_EQ(argmax(logits), best) << n;
    }
  }
}

TEST(Sampler, TopKKeepsExactlyKAndOfEqualLogitsTheLowerIds) {
  const std::vector<float> logits{1.0F, 3.0F, 2.0F, 2.0F, 2.0F, 0.0F};
  const auto tokens = distribution(logits, {.top_k = 3});
  ASSERT_EQ(tokens.size(), 3U);
  EXPECT_EQ(tokens[0].id, 1);
  EXPECT_EQ(tokens[1].id, 2);
  EXPECT_EQ(tokens[2].id, 3);
}

TEST(Sampler, TopPKeepsTheTokenThatCrosses) {
  // Probabilities 0.5, 0.25, 0.125, 0.125 exactly.
  const std::vector<float> logits{0.0F, std::log(2.0F), std::log(4.0F), 0.0F};
  EXPECT_EQ(distribution(logits, {.top_p = 0.49}).size(), 1U);
  EXPECT_EQ(distribution(logits, {.top_p = 0.51}).size(), 2U);
  EXPECT_EQ(distribution(logits, {.top_p = 0.74}).size(), 2U);
  EXPECT_EQ(distribution(logits, {.top_p = 0.76}).size(), 3U);
  EXPECT_EQ(distribution(logits, {.top_p = 0.76})[2].id, 0) << "of equals the lower id";
  EXPECT_EQ(distribution(logits, {.top_p = 1e-9}).size(), 1U);
}

// The oracle sorts everything.
TEST(Sampler, TopPOfManyTokensEqualsThatOfAFullSort) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto logits = random_logits(5000, seed);
    const double temperature = seed % 2 == 0 ? 1.0 : 5.0;  // sharp and flat
    for (const double p : {0.1, 0.5, 0.9, 0.999}) {
      std::vector<std::pair<double, i32>> all;
      double total = 0.0;
      for (i32 id = 0; id < 5000; ++id) {
        all.emplace_back(
            -std::exp(static_cast<double>(logits[static_cast<std::size_t>(id)]) / temperature), id);
        total -= all.back().first;
      }
      std::ranges::sort(all);
      std::vector<i32> want;
      for (double reached = 0.0; reached < p * total; reached -= all[want.size() - 1].first) {
        want.push_back(all[want.size()].second);
      }

      std::vector<i32> ids;
      for (const auto& t : distribution(logits, {.temperature = temperature, .top_p = p})) {
        ids.push_back(t.id);
      }
      ASSERT_EQ(ids, want) << "seed " << seed << " p " << p;
    }
  }
}

TEST(Sampler, MinPComparesWithTheBest) {
  // Weights 1, 1/2, 1/4 of the best.
  const std::vector<float> logits{std::log(4.0F), std::log(2.0F), 0.0F};
  EXPECT_EQ(distribution(logits, {.min_p = 0.24}).size(), 3U);
  EXPECT_EQ(distribution(logits, {.min_p = 0.26}).size(), 2U);
  EXPECT_EQ(distribution(logits, {.min_p = 0.51}).size(), 1U);
}

TEST(Sampler, PenaltiesLookAtPromptAndOutputAsTheyShould) {
  TokenCounts counts;
  counts.add_prompt(std::vector<i32>{0, 1, 1});
  counts.add_output(2);
  counts.add_output(2);
  counts.add_output(1);
  const std::vector<float> logits{4.0F, -4.0F, 4.0F, 4.0F};

  // Repetition: once for each token seen anywhere.
  EXPECT_EQ(processed(logits, {.repetition_penalty = 2.0}, counts),
            (std::vector<float>{2.0F, -8.0F, 2.0F, 4.0F}));
  // Presence: once for each generated token; frequency: for each time.
  EXPECT_EQ(processed(logits, {.presence_penalty = 0.5}, counts),
            (std::vector<float>{4.0F, -4.5F, 3.5F, 4.0F}));
  EXPECT_EQ(processed(logits, {.frequency_penalty = 0.5}, counts),
            (std::vector<float>{4.0F, -4.5F, 3.0F, 4.0F}));
}

TEST(Sampler, BiasComesBeforePenaltiesAndBansAfterAll) {
  TokenCounts counts;
  counts.add_prompt(std::vector<i32>{0});
  const std::vector<float> logits{4.0F, 1.0F, 1.0F};
  const Sampling sampling{.repetition_penalty = 2.0,
                          .logit_bias = {{0, -6.0}, {2, 100.0}, {99, 1.0}}};
  const std::vector<i32> banned{2, -1, 3};

  EXPECT_EQ(processed(logits, sampling, counts, banned), (std::vector<float>{-4.0F, 1.0F, -kInf}));
}

TEST(Sampler, UntouchedLogitsAreNotCopied) {
  Sampler sampler;
  const std::vector<float> logits{1.0F, 2.0F};
  EXPECT_EQ(sampler.processed(logits, {Sampling{}, TokenCounts{}, {}}).data(), logits.data());
}

TEST(Sampler, DrawsFollowTheDistribution) {
  Sampler sampler;
  const std::vector<float> logits{std::log(1.0F), std::log(2.0F), std::log(5.0F)};
  const DrawKey key = draw_key(7, 0, {});
  constexpr int kDraws = 40'000;
  std::array<double, 3> n{};
  for (int i = 0; i < kDraws; ++i) {
    n[static_cast<std::size_t>(sampler.choose(logits, {}, uniform_at(key, i)))] += 1.0;
  }

  // Binomial: five deviations.
  for (const auto& [id, p] : {std::pair<std::size_t, double>{0, 0.125}, {1, 0.25}, {2, 0.625}}) {
    EXPECT_NEAR(n[id] / kDraws, p, 5.0 * std::sqrt(p * (1.0 - p) / kDraws)) << id;
  }
}

TEST(Sampler, TheEndsOfTheUniformRangeAreTokensThatWereKept) {
  Sampler sampler;
  const std::vector<float> logits{-kInf, 0.0F, 1.0F, -kInf};
  EXPECT_EQ(sampler.choose(logits, {}, 0.0), 1);
  EXPECT_EQ(sampler.choose(logits, {}, 1.0 - 0x1p-53), 2);
  EXPECT_EQ(sampler.choose(logits, {}, 1.0), 2);
}

TEST(Sampler, LogitsThatAreNoNumbersAreSurvived) {
  Sampler sampler;
  const std::vector<std::vector<float>> broken{
      {kNan, kNan, kNan}, {-kInf, -kInf, -kInf}, {kNan, -kInf, kNan}};
  for (const auto& logits : broken) {
    for (const double temperature : {0.0, 1.0}) {
      EXPECT_EQ(sampler.choose(logits, {.temperature = temperature}, 0.5), 0);
      EXPECT_EQ(sampler.choose(logits, {.temperature = temperature, .top_p = 0.5, .top_k = 2}, 0.5),
                0);
    }
  }
  const std::vector<float> one_good{kNan, -kInf, 1.0F, kNan};
  EXPECT_EQ(sampler.choose(one_good, {}, 0.999), 2);
  EXPECT_EQ(sampler.choose(one_good, {.top_k = 3}, 0.999), 2);
  EXPECT_EQ(sampler.choose(one_good, {.top_p = 0.9, .min_p = 0.1}, 0.0), 2);
  const std::vector<float> infinite{1.0F, kInf, 2.0F};
  EXPECT_EQ(sampler.choose(infinite, {}, 0.99), 1);
  EXPECT_EQ(sampler.choose(infinite, {.top_k = 2}, 0.99), 1);
}

TEST(Sampler, ASeedDrawsTheSameForEveryoneAndNoSeedForItsRequestAlone) {
  const Hash128 one{.high = 1, .low = 2};
  const Hash128 other{.high = 1, .low = 3};
  EXPECT_EQ(draw_key(5, 11, one), draw_key(5, 12, other));
  EXPECT_NE(draw_key(5, 11, one), draw_key(6, 11, one));
  EXPECT_NE(draw_key(5, 11, one), draw_key(-5, 11, one));

  EXPECT_EQ(draw_key({}, 11, one), draw_key({}, 11, one));
  EXPECT_NE(draw_key({}, 11, one), draw_key({}, 11, other));
  EXPECT_NE(draw_key({}, 11, one), draw_key({}, 12, one));

  EXPECT_NE(uniform_at(draw_key(5, 0, {}), 1), uniform_at(draw_key(5, 0, {}), 2));
}

// The first answer's numbers are those of a request that asks for one.
TEST(Sampler, EachAnswerOfARequestDrawsNumbersOfItsOwn) {
  for (const std::optional<i64> seed : {std::optional<i64>(), std::optional<i64>(5)}) {
    const auto uniform = [&](i64 choice, i64 position) {
      return uniform_at(draw_key(seed, 11, {.high = 1, .low = 2}, choice), position);
    };
    EXPECT_EQ(uniform(0, 9), uniform_at(draw_key(seed, 11, {.high = 1, .low = 2}), 9));
    std::set<double> all;
    for (i64 choice = 0; choice < 100; ++choice) {
      for (i64 position = 0; position < 100; ++position)
        all.insert(uniform(choice, position));
    }
    EXPECT_EQ(all.size(), 10'000U);
  }
  const auto words = philox({5, 0}, {9, 3, 0, 0});
  EXPECT_EQ(uniform_at(draw_key(5, 11, {}, 3), 9), uniform01(words[0], words[1]));
}

TEST(Sampler, FindsTheBestInOrder) {
  const auto logits = random_logits(3000, 4);
  std::vector<i32> want(3000);
  for (i32 i = 0; i < 3000; ++i)
    want[static_cast<std::size_t>(i)] = i;
  std::ranges::stable_sort(want, [&](i32 a, i32 b) {
    return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
  });
  std::vector<WeightedToken> best;
  for (const i64 n : {0, 1, 2, 20, 2999, 3000, 4000}) {
    find_best(logits, n, best);
    ASSERT_EQ(std::ssize(best), std::min<i64>(n, 3000));
    for (std::size_t i = 0; i < best.size(); ++i)
      ASSERT_EQ(best[i].id, want[i]) << n;
  }
}

TEST(Sampler, LogSumExpStaysFiniteForLargeLogits) {
  const auto logits = random_logits(3000, 5);
  long double sum = 0.0L;
  for (const float x : logits)
    sum += std::exp(static_cast<long double>(x));
  EXPECT_NEAR(log_sum_exp(logits), static_cast<double>(std::log(sum)), 1e-12);

  EXPECT_NEAR(log_sum_exp(std::vector<float>{1e4F, 1e4F}), 1e4 + std::log(2.0), 1e-11);
  EXPECT_NEAR(log_sum_exp(std::vector<float>{0.0F, -kInf, kNan, 0.0F}), std::log(2.0), 1e-15);
}

}  // namespace
}  // namespace sticky::engine
