#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/conformance/tiny_model.hpp"

// A loaded model against what transformers computes in fp32, whichever file it was loaded from. The
// recorded logits are within 5e-5 of fp64, have a standard deviation of 2.6, and ours sum in
// another order; 1e-3 leaves room for that and for nothing else.

namespace sticky::test {

inline constexpr double kTolerance = 1e-3;
inline const std::vector<std::string> kPrompts{"p1", "p17", "p200", "p300"};

/// The largest difference.
inline double expect_recorded_logits(const TinyModel& tiny, model::LanguageModel& model) {
  double most = 0.0;
  for (const auto& name : kPrompts) {
    for_each_logit(tiny, name, all_logits(model, tiny.prompt(name)),
                   [&](float ours, float theirs, std::size_t position, std::size_t id) {
                     most = std::max(most, std::abs(double{ours} - double{theirs}));
                     ASSERT_NEAR(ours, theirs, kTolerance)
                         << name << " position " << position << " id " << id;
                   });
  }
  return most;
}

/// How many of the 4 x 32 greedy ids are equal; all must be whose margin is clear.
inline int expect_recorded_greedy_ids(const TinyModel& tiny, model::LanguageModel& model) {
  ModelSteps steps(model);
  std::vector<ModelSteps::Part> parts;
  for (std::size_t i = 0; i < kPrompts.size(); ++i)
    parts.push_back({.sequence = static_cast<i64>(i), .tokens = tiny.prompt(kPrompts[i])});
  // One step a prompt, for together they are longer than a step may be; then all four at once.
  Logits logits;
  for (const auto& part : parts)
    logits.push_back(steps.step({part})[0]);

  int n_equal = 0;
  for (std::size_t step = 0; step < 32; ++step) {
    for (std::size_t i = 0; i < kPrompts.size(); ++i) {
      const Json& expected = *tiny.cases.find("greedy")->find(kPrompts[i]);
      const i32 id = ids_of(*expected.find("new_ids"))[step];
      const bool is_clear = expected.find("margins")->as_array()[step].as_double() > kTolerance;
      n_equal += argmax(logits[i]) == id ? 1 : 0;
      if (is_clear) {
        EXPECT_EQ(argmax(logits[i]), id) << kPrompts[i] << " step " << step;
      }
      EXPECT_NEAR(logprob(logits[i], id), expected.find("logprobs")->as_array()[step].as_double(),
                  kTolerance);
      parts[i].tokens = {id};
    }
    logits = steps.step(parts);
  }
  return n_equal;
}

}  // namespace sticky::test
