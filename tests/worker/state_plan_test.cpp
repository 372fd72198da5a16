#include "sticky/worker/state_plan.hpp"

#include <gtest/gtest.h>

namespace sticky::worker {
namespace {

model::ModelSpec with_context(i64 context) {
  model::ModelSpec spec;
  spec.context = context;
  return spec;
}

TEST(StatePlan, DecidesWhatTheUserLeftOpen) {
  const StatePlan plan = plan_state(with_context(8192), {});

  EXPECT_EQ(plan.context, 4096);
  EXPECT_GE(plan.kv_tokens, 2 * plan.context);
  EXPECT_GE(plan.engine.max_batch_tokens, plan.engine.max_sequences);
  EXPECT_GT(plan.slots,
            plan.engine.max_sequences);  // a batch in hand, so that no step waits for the network
}

TEST(StatePlan, NeverGivesMoreContextThanTheModelHasUnlessAsked) {
  Options options;
  EXPECT_EQ(plan_state(with_context(512), options).context, 512);
  options.state.context = 1024;
  EXPECT_EQ(plan_state(with_context(512), options).context, 1024);
}

TEST(StatePlan, KeepsWhatTheUserDecided) {
  Options options;
  options.engine = {.max_sequences = 7, .max_batch_tokens = 33};
  const StatePlan plan = plan_state(with_context(512), options);

  EXPECT_EQ(plan.engine.max_sequences, 7);
  EXPECT_EQ(plan.engine.max_batch_tokens, 33);
  EXPECT_EQ(plan.slots, 10);
}

TEST(StatePlan, AStepAlwaysHoldsARowOfEverySequence) {
  Options options;
  options.engine = {.max_sequences = 100, .max_batch_tokens = 10};

  EXPECT_EQ(plan_state(with_context(512), options).engine.max_batch_tokens, 100);
}

}  // namespace
}  // namespace sticky::worker
