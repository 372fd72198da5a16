// Configs as they are published, without their weights: each is understood, and the tensors that it
// asks for hold as many numbers as the model is known to have.
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "sticky/model/describe.hpp"
#include "tests/model/memory_checkpoint.hpp"
#include "tests/support/files.hpp"

#include "families.hpp"

namespace sticky::test {
namespace {

using model::read_spec;

const Json kPublished = Json::parse(read_file(STICKY_TEST_DATA "/models/published_configs.json"));

MemoryCheckpoint with_config(const Json& config) {
  MemoryCheckpoint out;
  for (const auto& [key, value] : config.as_object())
    out.set(key, value);
  return out;
}

model::ModelSpec spec_of(const std::string& name) {
  return read_spec(with_config(*kPublished.find(name)->find("config")));
}

// Of tensors that roles share, once.
i64 n_parameters(const model::TensorTable& table) {
  std::set<std::string> seen;
  i64 sum = 0;
  for (const auto& place : table.places) {
    if (!seen.insert(place.name).second) continue;
    i64 n = 1;
    for (const i64 d : place.shape)
      n *= d;
    sum += n;
  }
  return sum;
}

TEST(PublishedConfigs, AskForAsManyNumbersAsTheirModelsHave) {
  for (const auto& [name, model] : kPublished.as_object()) {
    const auto checkpoint = with_config(*model.find("config"));
    const auto spec = read_spec(checkpoint);
    const auto table = model::family_of(checkpoint).tensor_table(spec, checkpoint);
    EXPECT_EQ(n_parameters(table), model.find("parameters")->as_integer()) << name;
  }
}

TEST(PublishedConfigs, EveryFamilyIsAmongThem) {
  std::set<std::string> seen;
  for (const auto& [name, model] : kPublished.as_object())
    seen.insert(spec_of(name).family);
  for (const model::Family* family : model::all_families())
    EXPECT_TRUE(seen.contains(std::string(family->name))) << family->name;
}

TEST(PublishedConfigs, WindowsAreWhereTheModelsHaveThem) {
  const auto gemma2 = spec_of("google/gemma-2-2b");
  EXPECT_EQ(gemma2.window(0), 4096);
  EXPECT_EQ(gemma2.window(1), 0);
  const auto gemma3 = spec_of("google/gemma-3-1b-it");
  EXPECT_EQ(gemma3.window(4), 512);
  EXPECT_EQ(gemma3.window(5), 0);
  EXPECT_EQ(gemma3.window(25), 512);
  EXPECT_EQ(gemma3.rope.theta, 1e6);
  EXPECT_EQ(gemma3.window_rope.value().theta, 1e4);
  EXPECT_EQ(spec_of("mistralai/Mistral-7B-v0.1").window(31), 4096);
  EXPECT_EQ(spec_of("microsoft/Phi-3-mini-4k-instruct").window(0), 2047);
  for (const char* none : {"mistralai/Mistral-Nemo-Instruct-2407", "Qwen/Qwen2.5-0.5B-Instruct",
                           "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", "Qwen/Qwen3-0.6B"})
    EXPECT_TRUE(spec_of(none).windows.empty()) << none;
}

TEST(PublishedConfigs, WhatAConfigLeavesOutIsItsFamilysOwn) {
  const auto gemma2 = spec_of("google/gemma-2-2b");
  EXPECT_TRUE(gemma2.tied_head);
  EXPECT_EQ(gemma2.embedding_scale, 48.0);
  EXPECT_EQ(gemma2.attention_scale, 0.0625F);
  EXPECT_EQ(gemma2.logit_softcap, 30.0F);
  EXPECT_EQ(gemma2.attention_softcap, 50.0F);
  EXPECT_EQ(spec_of("google/gemma-3-1b-it").logit_softcap, 0.0F);
  const auto gpt2 = spec_of("openai-community/gpt2");
  EXPECT_TRUE(gpt2.tied_head);
  EXPECT_EQ(gpt2.d_ff, 4 * 768);
  EXPECT_EQ(gpt2.rotary_dim, 0);
  EXPECT_EQ(spec_of("stabilityai/stablelm-2-1_6b").rotary_dim, 16);
  EXPECT_EQ(spec_of("EleutherAI/pythia-160m").rotary_dim, 16);
  EXPECT_EQ(spec_of("mistralai/Mistral-Nemo-Instruct-2407").head_dim, 128);
}

TEST(PublishedConfigs, NullAndAbsentAreNotTheSameWhereTransformersHasADefault) {
  auto gemma2 = with_config(*kPublished.find("google/gemma-2-2b")->find("config"));
  gemma2.set("final_logit_softcapping", Json());
  EXPECT_EQ(read_spec(gemma2).logit_softcap, 0.0F);
  Json config = *kPublished.find("google/gemma-2-2b")->find("config");
  config.erase("final_logit_softcapping");
  EXPECT_EQ(read_spec(with_config(config)).logit_softcap, 30.0F);
  config = *kPublished.find("mistralai/Mistral-7B-v0.1")->find("config");
  config.erase("sliding_window");
  EXPECT_EQ(read_spec(with_config(config)).window(0), 4096);
}

// A config is hostile input too: whatever it says, it ends in an error of ours or in a table that
// can be thought of.
TEST(PublishedConfigs, WithRandomValuesNeverDoMoreThanFail) {
  std::mt19937 random(5);
  const std::vector<Json> values{Json(),
                                 Json(true),
                                 Json(-1),
                                 Json(0),
                                 Json(1),
                                 Json(1e99),
                                 Json("gelu"),
                                 Json::array(),
                                 Json::array({"sliding_attention"}),
                                 Json::object(),
                                 Json::object({{"type", "yarn"}, {"factor", 1e300}}),
                                 Json::object({{"type", "longrope"}, {"long_factor", 1}}),
                                 Json::object({{"full_attention", 3}}),
                                 Json(i64{2147483647}),
                                 Json(i64{1} << 62)};
  int n_refused = 0;
  for (const auto& [name, model] : kPublished.as_object()) {
    const Json::Object keys = model.find("config")->as_object();
    for (int i = 0; i < 200; ++i) {
      auto checkpoint = with_config(*model.find("config"));
      for (int change = 0; change < 3; ++change)
        checkpoint.set(keys[random() % keys.size()].name, values[random() % values.size()]);
      checkpoint.set("architectures", *model.find("config")->find("architectures"));
      if (random() % 2 == 0) checkpoint.set("rope_scaling", values[random() % values.size()]);
      const auto description = model::describe(checkpoint, {}, DType::f32, i64{1} << 30);
      n_refused += description.spec ? 0 : 1;
      EXPECT_FALSE(description.can_run);  // there are no tensors
    }
  }
  EXPECT_GT(n_refused, 1300);
}

TEST(PublishedConfigs, NoConfigMakesAnEndlessTableOfTensors) {
  Json config = *kPublished.find("stabilityai/stablelm-2-1_6b")->find("config");
  config.set("qk_layernorm", true);
  for (const char* key : {"num_attention_heads", "num_key_value_heads", "hidden_size"})
    config.set(key, i64{1} << 20);
  EXPECT_THROW((void)read_spec(with_config(config)), FormatError);
  config = *kPublished.find("mistralai/Mistral-7B-v0.1")->find("config");
  config.set("num_hidden_layers", i64{2147483647});
  EXPECT_THROW((void)read_spec(with_config(config)), FormatError);
}

}  // namespace
}  // namespace sticky::test
