#include <cmath>
#include <gmock/gmock.h>
#include <random>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "sticky/model/describe.hpp"
#include "tests/model/memory_checkpoint.hpp"

namespace sticky::test {
namespace {

using model::read_spec;
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const checkpoint::Checkpoint& checkpoint) {
  try {
    (void)model::plan_memory(checkpoint, {}, DType::f32, i64{1} << 40);
  } catch (const FormatError& e) {
    return e.what();
  }
  return "";
}

std::string error_with(const std::string& key, Json value) {
  auto checkpoint = small_llama();
  checkpoint.set(key, std::move(value));
  return error_of(checkpoint);
}

TEST(Spec, EveryFieldComesFromItsKey) {
  auto checkpoint = small_llama({.biases = true});
  checkpoint.set("hidden_act", "gelu_pytorch_tanh");
  checkpoint.set("bos_token_id", 1);
  checkpoint.set("eos_token_id", 2);
  checkpoint.set_generation("eos_token_id", Json::array({2, 7}));

  const model::ModelSpec spec = read_spec(checkpoint);

  EXPECT_EQ(spec.family, "llama");
  EXPECT_EQ(spec.n_layers, 2);
  EXPECT_EQ(spec.d_model, 20);
  EXPECT_EQ(spec.d_ff, 28);
  EXPECT_EQ(spec.n_heads, 6);
  EXPECT_EQ(spec.n_kv_heads, 3);
  EXPECT_EQ(spec.head_dim, 8);
  EXPECT_EQ(spec.rotary_dim, 8);
  EXPECT_EQ(spec.vocab, 40);
  EXPECT_EQ(spec.context, 64);
  EXPECT_EQ(spec.norm_eps, 0.01F);
  EXPECT_EQ(spec.activation, Activation::gelu_tanh);
  EXPECT_EQ(spec.rope.theta, 100.0);
  EXPECT_FLOAT_EQ(spec.attention_scale, 0.35355339F);  // 8^-0.5
  EXPECT_FALSE(spec.tied_head);
  EXPECT_TRUE(spec.qkv_bias && spec.output_bias && spec.mlp_bias);
  EXPECT_EQ(spec.bos_id, 1);
  EXPECT_THAT(spec.eos_ids, ElementsAre(2, 7));
  EXPECT_EQ(model::kv_bytes_per_token(spec, 4), 2 * 2 * 3 * 8 * 4);
}

TEST(Spec, WhatAConfigMayLeaveOutIsWhatTransformersTakes) {
  auto checkpoint = small_llama({.d_model = 48});
  for (const char* key : {"num_key_value_heads", "head_dim", "max_position_embeddings",
                          "rms_norm_eps", "rope_theta", "tie_word_embeddings"})
    checkpoint.set(key, Json());

  const model::ModelSpec spec = read_spec(checkpoint);

  EXPECT_EQ(spec.n_kv_heads, 6);
  EXPECT_EQ(spec.head_dim, 8);
  EXPECT_EQ(spec.context, 2048);
  EXPECT_EQ(spec.norm_eps, 1e-6F);
  EXPECT_EQ(spec.rope.theta, 10000.0);
  EXPECT_FALSE(spec.tied_head);
  EXPECT_TRUE(spec.eos_ids.empty());
}

TEST(Spec, Transformers5NestsTheRotaryKeys) {
  auto checkpoint = small_llama();
  checkpoint.set("rope_theta", Json());
  checkpoint.set("rope_parameters",
                 Json::object({{"rope_theta", 500.0}, {"rope_type", "linear"}, {"factor", 2.0}}));

  const model::ModelSpec spec = read_spec(checkpoint);

  EXPECT_EQ(spec.rope.theta, 500.0);
  EXPECT_THAT(spec.rope.divisors, ElementsAre(2.0, 2.0, 2.0, 2.0));
}

// theta 10,000 and 8 elements: wavelengths 6.28, 62.8, 628 and 6,283. With 1,000 original
// positions, the bounds are 1000 / 4 = 250 and 1000 / 1 = 1000: the first two turn as before, the
// last 8 times slower; 628.3 is between: s = (1000 / 628.3 - 1) / 3 = 0.197183, frequency *
// (0.802817 / 8 + s).
TEST(Spec, Llama3ScalingSlowsLongWavelengthsOnly) {
  auto checkpoint = small_llama();
  checkpoint.set("rope_theta", 10000);
  checkpoint.set("rope_scaling", Json::object({{"rope_type", "llama3"},
                                               {"factor", 8.0},
                                               {"low_freq_factor", 1.0},
                                               {"high_freq_factor", 4.0},
                                               {"original_max_position_embeddings", 1000}}));

  const auto divisors = read_spec(checkpoint).rope.divisors;

  ASSERT_EQ(divisors.size(), 4U);
  EXPECT_EQ(divisors[0], 1.0);
  EXPECT_EQ(divisors[1], 1.0);
  EXPECT_NEAR(divisors[2], 1.0 / (0.802817 / 8.0 + 0.197183), 1e-5);
  EXPECT_EQ(divisors[3], 8.0);
}

TEST(Spec, AKeyThatChangesTheMathematicsIsRefusedByItsName) {
  EXPECT_THAT(error_with("rope_scaling", Json::object({{"rope_type", "dynamic"}, {"factor", 4}})),
              HasSubstr("MODEL/config.json: rope_scaling: rope_type is \"dynamic\", but must "
                        "be default, linear, llama3, yarn or longrope"));
  EXPECT_THAT(
      error_with("rope_scaling",
                 Json::object({{"type", "linear"}, {"factor", 4}, {"attention_factor", 1.5}})),
      HasSubstr("rope_scaling: attention_factor is 1.5, but this program does not know"));
  EXPECT_THAT(error_with("rope_parameters", Json::object({{"partial_rotary_factor", 0.5}})),
              HasSubstr("partial_rotary_factor is 0.5, but must be 1"));
  EXPECT_THAT(error_with("hidden_act", "relu"), HasSubstr("hidden_act is \"relu\", but must be"));
  EXPECT_THAT(error_with("rope_interleaved", true), HasSubstr("rope_interleaved is true"));
  for (const char* key : {"sliding_window", "attention_multiplier", "final_logit_softcapping",
                          "num_local_experts", "quantization_config", "residual_multiplier"})
    EXPECT_THAT(error_with(key, 2), HasSubstr(std::string(key) + " is 2, but")) << key;
}

TEST(Spec, KeysThatChangeNothingAreAccepted) {
  auto checkpoint = small_llama();
  for (const auto& [key, value] : std::vector<std::pair<std::string, Json>>{
           {"rope_scaling", Json()},
           {"sliding_window", Json()},
           {"attention_dropout", 0.1},
           {"pretraining_tp", 1},
           {"use_cache", true},
           {"dtype", "bfloat16"},
           {"transformers.js_config", Json::object({{"kv_cache_dtype", "q4"}})},
           {"rope_interleaved", false}})
    checkpoint.set(key, value);

  EXPECT_EQ(error_of(checkpoint), "");
}

TEST(Spec, AKeyOfTheWrongKindOrRangeIsNamedWithWhatItMayBe) {
  EXPECT_THAT(error_with("hidden_size", Json()),
              HasSubstr("hidden_size is missing; it must be an integer from 1 to 2147483647"));
  EXPECT_THAT(error_with("hidden_size", "20"), HasSubstr("hidden_size is \"20\", but must be an"));
  EXPECT_THAT(error_with("num_attention_heads", 0), HasSubstr("num_attention_heads is 0, but"));
  EXPECT_THAT(error_with("rms_norm_eps", "small"), HasSubstr("must be a finite number"));
  EXPECT_THAT(error_with("eos_token_id", Json::array({1, -1})),
              HasSubstr("eos_token_id is [1,-1], but must be a token id or a list of them"));
  EXPECT_THAT(error_with("num_key_value_heads", 4),
              HasSubstr("n_heads is 6, which is no multiple of n_kv_heads, 4"));
  EXPECT_THAT(error_with("head_dim", 7), HasSubstr("rotary_dim is 7, but must be even"));
  EXPECT_THAT(error_with("head_dim", 1 << 20),
              HasSubstr("head_dim is 1048576, but must be at most"));
  EXPECT_THAT(error_with("num_hidden_layers", 1000000),
              HasSubstr("num_hidden_layers is 1000000, but must be at most"));
  EXPECT_THAT(
      error_with("architectures", Json::array({"MambaForCausalLM"})),
      HasSubstr("architecture MambaForCausalLM is not known; known are: Gemma2ForCausalLM"));
  EXPECT_THAT(error_with("architectures", Json()), HasSubstr("architectures is null"));
}

// Their code in transformers has no such key: the tensors of q, k and v are shared by equal parts.
TEST(Spec, AFamilyWhoseHeadsAllHaveTheirOwnKeysRefusesFewer) {
  auto neox = small_llama();
  neox.set("architectures", Json::array({"GPTNeoXForCausalLM"}));
  neox.set("layer_norm_eps", 0.01);
  EXPECT_THAT(error_of(neox), HasSubstr("num_key_value_heads is 3, but must be as "
                                        "num_attention_heads, 6"));

  auto gpt2 = small_llama();
  gpt2.set("architectures", Json::array({"GPT2LMHeadModel"}));
  for (const auto& [key, value] : std::vector<std::pair<std::string, i64>>{
           {"n_layer", 2}, {"n_embd", 20}, {"n_head", 6}, {"n_positions", 64}})
    gpt2.set(key, value);
  gpt2.set("layer_norm_epsilon", 0.01);
  EXPECT_THAT(error_of(gpt2), HasSubstr("num_key_value_heads is 3, but must be as n_head, 6"));
}

// With the sum in the place of its norm, the MLP would read what attention has already added.
TEST(Spec, AnMlpBesideAttentionNeedsANormBeforeBoth) {
  using model::MlpPlace;
  model::ModelSpec spec = read_spec(small_llama());
  for (const MlpPlace place : {MlpPlace::beside, MlpPlace::beside_same_norm}) {
    spec.mlp_place = place;
    spec.pre_norms = true;
    EXPECT_NO_THROW(spec.validate());
    spec.pre_norms = false;
    EXPECT_THROW(spec.validate(), FormatError);
  }
}

TEST(Spec, TensorsAtOddsWithTheConfigAreNamed) {
  auto missing = small_llama();
  missing.remove("model.layers.1.mlp.up_proj.weight");
  EXPECT_EQ(error_of(missing),
            "MODEL: tensor model.layers.1.mlp.up_proj.weight of shape [28, 20] is missing");

  auto reshaped = small_llama();
  reshaped.put("model.norm.weight", {19}, std::vector<float>(19));
  EXPECT_EQ(error_of(reshaped),
            "MODEL: tensor model.norm.weight has shape [19], but the config asks for [20]");

  auto more = small_llama();
  more.put("model.layers.0.self_attn.q_norm.weight", {8}, std::vector<float>(8));
  EXPECT_EQ(
      error_of(more),
      "MODEL: tensor model.layers.0.self_attn.q_norm.weight is not part of the model that the "
      "config describes");
}

// Rotary keys as transformers 5 nests them, also one level deeper, with values of any kind.
Json random_ropes(std::mt19937& random, const std::vector<Json>& values, int depth = 1) {
  Json out = Json::object();
  for (const char* key :
       {"full_attention", "sliding_attention", "rope_type", "rope_theta", "factor"}) {
    if (random() % 2 == 0) continue;
    const bool is_nested = depth > 0 && random() % 4 == 0;
    out.set(key,
            is_nested ? random_ropes(random, values, depth - 1) : values[random() % values.size()]);
  }
  return out;
}

// A config is hostile input too: whatever it says ends in an error or in a plan.
TEST(Spec, ConfigsOfRandomValuesNeverDoMoreThanFail) {
  std::mt19937 random(3);
  const std::vector<Json> values{Json(),
                                 Json(true),
                                 Json(-1),
                                 Json(0),
                                 Json(3),
                                 Json(1e9),
                                 Json(1e99),
                                 Json("llama3"),
                                 Json::array(),
                                 Json::object(),
                                 Json(i64{2147483647}),
                                 Json(i64{1} << 62)};
  const Json::Object keys = small_llama().config().as_object();
  int n_refused = 0;
  for (int i = 0; i < 2000; ++i) {
    auto checkpoint = small_llama();
    for (int change = 0; change < 3; ++change)
      checkpoint.set(keys[random() % keys.size()].name, values[random() % values.size()]);
    if (i % 4 == 0) checkpoint.set("architectures", Json::array({"Gemma3ForCausalLM"}));
    if (i % 2 == 0) checkpoint.set("rope_parameters", random_ropes(random, values));
    const auto description = model::describe(checkpoint, {}, DType::f32, i64{1} << 30);
    n_refused += description.can_run ? 0 : 1;
    EXPECT_EQ(description.can_run, description.obstacle.empty());
  }
  EXPECT_GT(n_refused, 1000);
}

}  // namespace
}  // namespace sticky::test
