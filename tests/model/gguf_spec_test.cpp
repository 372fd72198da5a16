// What the metadata of a GGUF file say of a model, key by key. That the answers are then right is
// shown by tests/conformance/gguf_test.cpp.
#include <cmath>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "sticky/model/spec.hpp"
#include "tests/model/memory_checkpoint.hpp"

namespace sticky::test {
namespace {

using model::ModelSpec;
using model::read_spec;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Metadata of one architecture, under its prefix, and the one tensor that tells the vocabulary.
class Metadata {
 public:
  explicit Metadata(std::string architecture) : architecture_(std::move(architecture)) {
    file.set("general.architecture", architecture_);
    for (const auto& [key, value] :
         std::vector<std::pair<std::string, i64>>{{"block_count", 4},
                                                  {"embedding_length", 48},
                                                  {"feed_forward_length", 80},
                                                  {"attention.head_count", 4},
                                                  {"attention.head_count_kv", 2},
                                                  {"context_length", 64}})
      set(key, value);
    set("attention.layer_norm_rms_epsilon", 0.01);
    set("attention.layer_norm_epsilon", 0.01);
    put("token_embd.weight", {50, 48});
    const bool has_layer_norms =
        architecture_ == "gpt2" || architecture_ == "gptneox" || architecture_ == "stablelm";
    set(has_layer_norms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon",
        Json());
  }
  Metadata& set(const std::string& key, Json value) {
    file.set(architecture_ + "." + key, std::move(value));
    return *this;
  }
  Metadata& put(const std::string& name, std::vector<i64> shape, float value = 1.0F) {
    i64 n = 1;
    for (const i64 d : shape)
      n *= d;
    file.put(name, std::move(shape), std::vector<float>(static_cast<std::size_t>(n), value));
    return *this;
  }
  [[nodiscard]] ModelSpec spec() const { return read_spec(file); }
  [[nodiscard]] std::string error() const {
    try {
      (void)spec();
    } catch (const FormatError& e) {
      return e.what();
    }
    return "";
  }

  MemoryCheckpoint file{true};

 private:
  std::string architecture_;
};

std::string error_with(const std::string& key, Json value) {
  return Metadata("llama").set(key, std::move(value)).error();
}

TEST(GgufSpec, EveryFieldComesFromItsKey) {
  Metadata metadata("llama");
  metadata.set("attention.key_length", 16).set("attention.value_length", 16);
  metadata.set("rope.freq_base", 5e5).set("rope.dimension_count", 16);
  metadata.file.set("tokenizer.ggml.bos_token_id", 7);
  metadata.file.set("tokenizer.ggml.eos_token_id", 2);
  metadata.file.set("tokenizer.ggml.eot_token_id", 5);
  metadata.file.set("tokenizer.ggml.eom_token_id", 2);

  const ModelSpec spec = metadata.spec();

  EXPECT_EQ(spec.family, "llama");
  EXPECT_EQ(spec.n_layers, 4);
  EXPECT_EQ(spec.d_model, 48);
  EXPECT_EQ(spec.d_ff, 80);
  EXPECT_EQ(spec.n_heads, 4);
  EXPECT_EQ(spec.n_kv_heads, 2);
  EXPECT_EQ(spec.head_dim, 16);
  EXPECT_EQ(spec.rotary_dim, 16);
  EXPECT_EQ(spec.vocab, 50);
  EXPECT_EQ(spec.context, 64);
  EXPECT_EQ(spec.norm_eps, 0.01F);
  EXPECT_EQ(spec.rope.theta, 5e5);
  EXPECT_EQ(spec.attention_scale, 0.25F);
  EXPECT_TRUE(spec.tied_head);
  EXPECT_FALSE(spec.qkv_bias || spec.output_bias || spec.mlp_bias);
  EXPECT_THAT(spec.windows, IsEmpty());
  EXPECT_EQ(spec.bos_id, 7);
  EXPECT_THAT(spec.eos_ids, ElementsAre(2, 5));
}

TEST(GgufSpec, TensorsTellBiasesAndTheHead) {
  const ModelSpec spec = Metadata("qwen2")
                             .put("output.weight", {50, 48})
                             .put("blk.0.attn_q.bias", {48})
                             .put("blk.0.ffn_down.bias", {48})
                             .spec();

  EXPECT_FALSE(spec.tied_head);
  EXPECT_TRUE(spec.qkv_bias && spec.mlp_bias);
  EXPECT_FALSE(spec.output_bias);
}

TEST(GgufSpec, ALinearFactorSlowsEveryPairUnlessItIsSwitchedOff) {
  EXPECT_THAT(Metadata("llama").set("rope.scaling.factor", 4.0).spec().rope.divisors,
              ElementsAre(4.0, 4.0, 4.0, 4.0, 4.0, 4.0));
  EXPECT_THAT(Metadata("llama").set("rope.scale_linear", 2.0).spec().rope.divisors, Each(2.0));
  EXPECT_THAT(Metadata("llama")
                  .set("rope.scaling.type", "none")
                  .set("rope.scaling.factor", 4.0)
                  .spec()
                  .rope.divisors,
              IsEmpty());
}

// 0.1 ln 4 + 1 = 1.1386294; a multiplier of 1 takes that back.
TEST(GgufSpec, YarnHasItsBoundsAndItsSharpeningFromTheirKeys) {
  const auto yarn = [](const std::string& key, double value) {
    Metadata metadata("qwen2");
    metadata.set("rope.scaling.type", "yarn").set("rope.scaling.factor", 4.0);
    metadata.set("rope.scaling.original_context_length", 16);
    if (!key.empty()) metadata.set("rope.scaling." + key, value);
    return metadata.spec().rope;
  };
  EXPECT_NEAR(yarn("", 0).scale, 1.1386294, 1e-6);
  EXPECT_NEAR(yarn("yarn_log_multiplier", 1.0).scale, 1.0, 1e-12);
  EXPECT_NEAR(yarn("yarn_attn_factor", 1.5).scale, 1.5, 1e-12);
  EXPECT_NEAR(yarn("attn_factor", 2.0).scale, 2 * 1.1386294, 1e-6);

  // 16 positions, theta 10,000, 12 elements: pair p turns 16 / (2 pi 10000^(p / 6)) times there:
  // 2.5 times and 0.55 times. Bounds 32 and 1 are at pairs -1.66 and 0.61, whole ones at 0 and 1.
  EXPECT_THAT(yarn("", 0).divisors, ElementsAre(1.0, 4.0, 4.0, 4.0, 4.0, 4.0));
  // The lower bound at 0.05 turns is at pair 2.56, so 3: between 0 and 3 the frequency falls evenly
  // from 1 to 1/4.
  const auto wider = yarn("yarn_beta_slow", 0.05).divisors;
  EXPECT_NEAR(wider[1], 1.0 / 0.75, 1e-12);
  EXPECT_NEAR(wider[2], 1.0 / 0.5, 1e-12);
  EXPECT_NEAR(wider[3], 4.0, 1e-12);
}

TEST(GgufSpec, StoredDivisorsCountBesideAFactor) {
  const ModelSpec spec =
      Metadata("llama").put("rope_freqs.weight", {6}, 3.0F).set("rope.scaling.factor", 2.0).spec();

  EXPECT_THAT(spec.rope.divisors, Each(6.0));
  EXPECT_EQ(spec.rope.long_above, 0);
}

// 1 + ln(64 / 16) / ln 16 = 1.5.
TEST(GgufSpec, LongRopeHasItsFactorsFromTensors) {
  Metadata metadata("phi3");
  metadata.put("rope_factors_long.weight", {4}, 8.0F).put("rope_factors_short.weight", {4}, 2.0F);
  metadata.set("rope.dimension_count", 8).set("rope.scaling.original_context_length", 16);

  const model::Rope rope = metadata.spec().rope;
  EXPECT_THAT(rope.divisors, ElementsAre(2.0, 2.0, 2.0, 2.0));
  EXPECT_THAT(rope.long_divisors, ElementsAre(8.0, 8.0, 8.0, 8.0));
  EXPECT_EQ(rope.long_above, 16);
  EXPECT_NEAR(rope.scale, 1.2247449, 1e-6);

  metadata.set("rope.scaling.attn_factor", 1.0);
  EXPECT_EQ(metadata.spec().rope.scale, 1.0);
}

TEST(GgufSpec, AWindowIsOfAllLayersOrOfThoseThatThePatternNames) {
  EXPECT_THAT(Metadata("llama").set("attention.sliding_window", 9).spec().windows,
              ElementsAre(9, 9, 9, 9));
  EXPECT_THAT(Metadata("phi3").set("attention.sliding_window", 0).spec().windows, IsEmpty());
  EXPECT_THAT(Metadata("gemma2").spec().windows, ElementsAre(4096, 0, 4096, 0));
  Metadata gemma3("gemma3");
  EXPECT_THAT(gemma3.spec().windows, IsEmpty());
  gemma3.set("attention.sliding_window", 9);
  EXPECT_THAT(gemma3.spec().windows, ElementsAre(9, 9, 9, 9));
  gemma3.set("attention.sliding_window_pattern", 3);
  EXPECT_THAT(gemma3.spec().windows, ElementsAre(9, 9, 0, 9));
  gemma3.set("attention.sliding_window_pattern", Json::array({false, true, false, true}));
  EXPECT_THAT(gemma3.spec().windows, ElementsAre(0, 9, 0, 9));
}

TEST(GgufSpec, GemmasScaleCapsAndPositionsAreThoseOfItsSize) {
  Metadata gemma2("gemma2");
  gemma2.set("attention.key_length", 16).set("attn_logit_softcapping", 7.0);
  EXPECT_EQ(gemma2.spec().attention_scale, 0.25F);
  EXPECT_EQ(gemma2.spec().attention_softcap, 7.0F);
  EXPECT_EQ(gemma2.spec().logit_softcap, 30.0F);
  EXPECT_EQ(gemma2.spec().norm_offset, 1.0F);
  gemma2.set("block_count", 46);  // 27B: (48 / 4)^-0.5
  EXPECT_FLOAT_EQ(gemma2.spec().attention_scale, 0.28867513F);

  Metadata gemma3("gemma3");
  gemma3.set("rope.freq_base", 1e6).set("rope.scaling.factor", 8.0);
  EXPECT_EQ(gemma3.spec().window_rope->theta, 10000.0);
  EXPECT_THAT(gemma3.spec().window_rope->divisors, IsEmpty());
  EXPECT_THAT(gemma3.spec().rope.divisors, Each(8.0));
  gemma3.set("rope.freq_base_swa", 500.0);
  EXPECT_EQ(gemma3.spec().window_rope->theta, 500.0);
}

TEST(GgufSpec, StableLmsTensorsTellWhereItsMlpStands) {
  Metadata metadata("stablelm");
  metadata.set("use_parallel_residual", true).set("rope.dimension_count", 4);
  metadata.put("blk.0.ffn_norm.weight", {48});
  EXPECT_EQ(metadata.spec().mlp_place, model::MlpPlace::behind);
  EXPECT_EQ(metadata.spec().qk_norm, model::QkNorm::none);
  EXPECT_EQ(metadata.spec().rotary_dim, 4);

  Metadata of_12b("stablelm");
  of_12b.put("blk.0.attn_q_norm.weight", {4, 12});
  EXPECT_EQ(of_12b.spec().mlp_place, model::MlpPlace::beside_same_norm);
  EXPECT_EQ(of_12b.spec().qk_norm, model::QkNorm::each_head);
}

TEST(GgufSpec, GptNeoXsActivationIsThatOfItsSize) {
  Metadata metadata("gptneox");
  EXPECT_EQ(metadata.spec().activation, Activation::gelu_erf);
  EXPECT_EQ(metadata.spec().mlp_place, model::MlpPlace::beside);
  metadata.set("use_parallel_residual", false);
  EXPECT_EQ(metadata.spec().mlp_place, model::MlpPlace::behind);
  metadata.set("block_count", 44).set("embedding_length", 6144);
  EXPECT_EQ(metadata.spec().activation, Activation::gelu_tanh);
}

TEST(GgufSpec, WhatChangesTheMathematicsIsRefusedByItsName) {
  EXPECT_THAT(error_with("expert_count", 8), HasSubstr("MODEL: llama.expert_count is 8, but"));
  EXPECT_THAT(error_with("attention.causal", false), HasSubstr("llama.attention.causal is false"));
  EXPECT_THAT(error_with("attention.scale", 0.5),
              HasSubstr("llama.attention.scale is 0.5, but this program does not know"));
  EXPECT_THAT(error_with("rope.scaling.type", "odd"),
              HasSubstr("llama.rope.scaling.type is \"odd\", but must be none, linear, yarn or"));
  EXPECT_THAT(error_with("rope.scaling.type", "longrope"), HasSubstr("expected as tensors"));
  EXPECT_THAT(error_with("rope.scaling.factor", -2.0), HasSubstr("rope.scaling.factor is -2"));
  EXPECT_THAT(Metadata("olmo2").set("attention.sliding_window", 9).error(),
              HasSubstr("olmo2.attention.sliding_window is 9, but this program does not know"));
  Metadata mixed("llama");
  mixed.set("rope.scaling.type", "yarn").set("rope.scaling.yarn_ext_factor", 0.5);
  EXPECT_THAT(mixed.error(), HasSubstr("yarn_ext_factor is 0.5, but must be 1"));
  EXPECT_THAT(
      Metadata("mamba").error(),
      HasSubstr("architecture mamba is not known; known are: gemma2, gemma3, gpt2, gptneox, "
                "llama, olmo2, phi3, qwen2, qwen3, stablelm"));
}

TEST(GgufSpec, AKeyOfTheWrongKindOrRangeIsNamed) {
  EXPECT_THAT(error_with("block_count", Json()), HasSubstr("llama.block_count is missing"));
  EXPECT_THAT(error_with("block_count", 10001), HasSubstr("block_count is 10001, but must be at"));
  EXPECT_THAT(error_with("attention.head_count_kv", Json::array({1, 2})),
              HasSubstr("attention.head_count_kv is [1,2], but must be an integer"));
  EXPECT_THAT(error_with("attention.value_length", 9), HasSubstr("value_length is 9, but must be"));
  EXPECT_THAT(error_with("attention.key_length", 1 << 20), HasSubstr("key_length is 1048576"));
  EXPECT_THAT(error_with("attention.sliding_window", -1), HasSubstr("sliding_window is -1"));
  EXPECT_THAT(error_with("rope.dimension_count", 6), HasSubstr("rope.dimension_count is 6, but"));
  EXPECT_THAT(Metadata("phi3").set("rope.dimension_count", 1 << 30).error(),
              HasSubstr("phi3.rope.dimension_count is 1073741824, but heads have only 12"));
  Metadata gemma("gemma3");
  gemma.set("attention.sliding_window", 9);
  gemma.set("attention.sliding_window_pattern", Json::array({true}));
  EXPECT_THAT(gemma.error(), HasSubstr("must be a number or a list of 4 booleans"));
  EXPECT_THAT(Metadata("phi3").put("rope_factors_long.weight", {6}).error(),
              HasSubstr("either the first or the other two"));
  EXPECT_THAT(Metadata("llama").put("rope_freqs.weight", {7}).error(),
              HasSubstr("tensor rope_freqs.weight: 7 elements, but 6"));
  Metadata nameless("llama");
  nameless.file.remove("token_embd.weight");
  EXPECT_THAT(nameless.error(), HasSubstr("tensor token_embd.weight is missing"));
}

TEST(GgufSpec, WhateverAKeyHoldsThereIsAnErrorOrAValidSpec) {
  const std::vector<Json> poison{Json(),
                                 Json(i64{0}),
                                 Json(i64{-1}),
                                 Json(i64{3}),
                                 Json(i64{1} << 31),
                                 Json(i64{1} << 62),
                                 Json(1e308),
                                 Json(-0.5),
                                 Json(std::nan("")),
                                 Json("x"),
                                 Json(true),
                                 Json(Json::Array{}),
                                 Json(Json::Array(5, Json(true)))};
  int n_refused = 0;
  int n_valid = 0;
  for (const char* architecture : {"llama", "qwen2", "qwen3", "gemma2", "gemma3", "stablelm",
                                   "phi3", "olmo2", "gpt2", "gptneox"}) {
    for (const char* key : {"block_count",
                            "context_length",
                            "embedding_length",
                            "feed_forward_length",
                            "attention.head_count",
                            "attention.head_count_kv",
                            "attention.key_length",
                            "attention.value_length",
                            "attention.layer_norm_epsilon",
                            "attention.layer_norm_rms_epsilon",
                            "attention.sliding_window",
                            "attention.sliding_window_pattern",
                            "attn_logit_softcapping",
                            "final_logit_softcapping",
                            "rope.dimension_count",
                            "rope.freq_base",
                            "rope.freq_base_swa",
                            "rope.scaling.type",
                            "rope.scaling.factor",
                            "rope.scaling.original_context_length",
                            "use_parallel_residual"}) {
      for (const Json& value : poison) {
        Metadata metadata(architecture);
        metadata.set("rope.scaling.type", architecture == std::string("gpt2") ? Json() : "yarn");
        metadata.set(key, value);
        const std::string error = metadata.error();
        (error.empty() ? n_valid : n_refused) += 1;
        EXPECT_TRUE(error.empty() || error.starts_with("MODEL: ")) << error;
      }
    }
  }
  EXPECT_GT(n_refused, 1000);
  EXPECT_GT(n_valid, 200);
}

}  // namespace
}  // namespace sticky::test
