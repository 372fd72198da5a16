#include "time_estimate.hpp"

#include <gtest/gtest.h>

namespace sticky::cli {
namespace {

// 2 layers of q and o 8 x 8, k and v 8 x 4, three of 8 x 10: 2 (128 + 64 + 240) = 864 weights, and
// a head of 80.
const model::ModelSpec kSpec = [] {
  model::ModelSpec spec;
  spec.n_layers = 2;
  spec.d_model = 8;
  spec.d_ff = 10;
  spec.n_heads = 4;
  spec.n_kv_heads = 2;
  spec.head_dim = 2;
  spec.vocab = 10;
  return spec;
}();

TEST(TimeEstimate, IsTheProductsOfAllTokensAtThePaceMeasured) {
  const Workload work{.n_requests = 8,
                      .prompt_tokens = 1000,
                      .most_new_tokens = 400,
                      .n_workers = 2,
                      .n_sequences = 32,
                      .n_chunk = 100};

  const auto time = estimate_time(kSpec, work, {.prompt_step = 0.5, .answer_step = 0.25});

  EXPECT_DOUBLE_EQ(time.prompt_seconds, 10 * 864 * 0.5 / 2);
  EXPECT_DOUBLE_EQ(time.answer_seconds, 100 * (864 + 80) * 0.25 / 2);  // 4 requests each at once
}

TEST(TimeEstimate, AStepHasNoMoreRowsThanThereAreRequestsOrRoom) {
  EXPECT_EQ(rows_of_answer_step({.n_requests = 100, .n_workers = 2, .n_sequences = 32}), 32);
  EXPECT_EQ(rows_of_answer_step({.n_requests = 5, .n_workers = 2, .n_sequences = 32}), 3);
  EXPECT_EQ(rows_of_answer_step({.n_requests = 0, .n_workers = 2, .n_sequences = 32}), 1);
}

}  // namespace
}  // namespace sticky::cli
