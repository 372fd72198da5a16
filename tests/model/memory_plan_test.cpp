#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "sticky/model/describe.hpp"
#include "tests/model/memory_checkpoint.hpp"

namespace sticky::test {
namespace {

using testing::HasSubstr;

// Elements of small_llama(): a layer has 2 * 20 in norms, (48 + 24 + 24 + 20 * 48 / 20) * 20 in
// attention and 3 * 28 * 20 in the MLP; embedding and head 40 * 20 each; the last norm 20.
constexpr i64 kLayer = 40 + (48 + 24 + 24 + 48) * 20 + 3 * 28 * 20;

TEST(MemoryPlan, EachPartIsCountedOnce) {
  const auto checkpoint = small_llama();

  const auto plan = model::plan_memory(checkpoint, {.kv_tokens = 33, .max_batch_tokens = 10},
                                       DType::f32, i64{1} << 30);

  EXPECT_EQ(plan.embedding_bytes, 40 * 20 * 4);
  EXPECT_EQ(plan.weight_bytes, (2 * kLayer + 20 + 40 * 20) * 4);
  EXPECT_EQ(plan.position_table_bytes, 64 * 2 * 4 * 4);
  // Per token: residual and normed 40, q k v 96, attended 48, gate and up 56, activated 28.
  EXPECT_EQ(plan.step_bytes, (10 * (40 + 96 + 48 + 56 + 28) + 64 * (20 + 40)) * 4);
  EXPECT_EQ(plan.kv_tokens, 48);  // whole pages
  EXPECT_EQ(plan.kv_bytes, 48 * 2 * 2 * 3 * 8 * 4);
  EXPECT_EQ(plan.context, 64);
}

TEST(MemoryPlan, WeightsRoundedToBf16TakeHalfNormsDoNot) {
  const auto checkpoint = small_llama({.tied = true});

  const auto plan = model::plan_memory(checkpoint, {.kv_tokens = 16}, DType::bf16, i64{1} << 30);

  EXPECT_EQ(plan.embedding_bytes, 40 * 20 * 2);
  EXPECT_EQ(plan.weight_bytes, (2 * (kLayer - 40) + 40 * 20) * 2 + (2 * 40 + 20) * 4);
}

TEST(MemoryPlan, TheCacheTakesTheRestOfItsShareInWholePages) {
  const auto checkpoint = small_llama();
  const model::LoadOptions options{.memory_share = 0.5, .max_batch_tokens = 10};
  const i64 fixed = model::plan_memory(checkpoint, options, DType::f32, 0).fixed_bytes();
  const i64 per_page = 16 * 2 * 2 * 3 * 8 * 4;

  const auto plan =
      model::plan_memory(checkpoint, options, DType::f32, 2 * (fixed + 6 * per_page + 1));

  EXPECT_EQ(plan.kv_tokens, 6 * 16);
  EXPECT_EQ(model::plan_memory(checkpoint, options, DType::f32, 0).kv_tokens, 0);
  // More than 64 sequences of full length are never needed.
  EXPECT_EQ(model::plan_memory(checkpoint, options, DType::f32, i64{1} << 40).kv_tokens, 64 * 64);
}

TEST(MemoryPlan, AContextLongerThanTheModelsIsRefused) {
  try {
    (void)model::plan_memory(small_llama(), {.context = 65}, DType::f32, 0);
    FAIL() << "expected ConfigError";
  } catch (const ConfigError& e) {
    EXPECT_STREQ(e.what(),
                 "MODEL: a context of 65 tokens is asked for, but the model was made for 64");
  }
}

TEST(MemoryPlan, ADeviceTooSmallIsToldEveryPart) {
  const auto checkpoint = small_llama();
  const model::LoadOptions asked{.kv_tokens = 64};
  const auto plan = model::plan_memory(checkpoint, asked, DType::f32, 0);

  EXPECT_NO_THROW(model::check_room(plan, asked, plan.total_bytes()));
  EXPECT_THROW(model::check_room(plan, asked, plan.total_bytes() - 1), ConfigError);
  // A cache left to the plan must hold one whole sequence.
  const model::LoadOptions left;
  try {
    model::check_room(model::plan_memory(checkpoint, left, DType::f32, 0), left, i64{1} << 30);
    FAIL() << "expected ConfigError";
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(), HasSubstr("the model does not fit: 1.00 GiB free"));
    EXPECT_THAT(e.what(), HasSubstr("KV cache 0.00 GiB for 0 tokens (one sequence has up to 64)"));
  }
}

TEST(Describe, ARealFolderIsCountedAsItsMakerCountedIt) {
  const auto checkpoint =
      checkpoint::open_checkpoint(STICKY_TEST_DATA "/models/tiny-llama-smollm2");

  const auto d = model::describe(*checkpoint, {.kv_tokens = 1024}, DType::f32, i64{1} << 30);

  EXPECT_EQ(d.form, "Hugging Face folder");
  EXPECT_EQ(d.n_parameters, 1377600);  // of the reference
  ASSERT_EQ(d.storage.size(), 1U);
  EXPECT_EQ(d.storage[0].storage, "bf16");
  EXPECT_EQ(d.storage[0].n_tensors, 29);
  EXPECT_EQ(d.storage[0].n_bytes, 2 * 1377600);
  ASSERT_TRUE(d.spec.has_value());
  EXPECT_EQ(d.spec->n_layers, 3);
  EXPECT_EQ(d.memory.kv_tokens, 1024);
  EXPECT_TRUE(d.can_run) << d.obstacle;
}

TEST(Describe, WhyAModelCannotRunIsTold) {
  auto unknown = small_llama();
  unknown.set("hidden_act", "relu");
  const auto d = model::describe(unknown, {}, DType::f32, i64{1} << 30);
  EXPECT_FALSE(d.can_run);
  EXPECT_FALSE(d.spec.has_value());
  EXPECT_THAT(d.obstacle, HasSubstr("hidden_act is \"relu\""));
  EXPECT_EQ(d.storage[0].storage, "f32");

  const auto small = model::describe(small_llama(), {}, DType::f32, 1000);
  EXPECT_TRUE(small.spec.has_value());
  EXPECT_THAT(small.obstacle, HasSubstr("the model does not fit"));
}

}  // namespace
}  // namespace sticky::test
