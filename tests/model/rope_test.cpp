// How configs tell of stretched contexts. Expected divisors are worked by hand from the formulas of
// transformers' modeling_rope_utils.py.
#include <cmath>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "sticky/model/spec.hpp"
#include "tests/model/memory_checkpoint.hpp"

namespace sticky::test {
namespace {

using model::read_spec;
using testing::ElementsAre;
using testing::HasSubstr;

// Heads of 8 elements: 4 pairs; theta 10,000; context 64.
model::Rope rope_with(Json scaling) {
  auto checkpoint = small_llama();
  checkpoint.set("rope_theta", 10000);
  checkpoint.set("rope_scaling", std::move(scaling));
  return read_spec(checkpoint).rope;
}

std::string error_with(Json scaling) {
  try {
    (void)rope_with(std::move(scaling));
  } catch (const FormatError& e) {
    return e.what();
  }
  return "";
}

// Pair 8 ln(1000 / (32 2 pi)) / (2 ln 10000) = 0.697 turns 32 times in 1,000 positions, pair 8
// ln(1000 / 2 pi) / (2 ln 10000) = 2.202 once: the ramp goes from 0 to 3. Frequencies (1 - r) + r /
// 4 for r = 0, 1/3, 2/3, 1. Scale 0.1 ln 4 + 1.
TEST(Rope, YarnSlowsLongWavelengthsAndSharpensAttention) {
  const auto rope = rope_with(Json::object(
      {{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 1000}}));

  ASSERT_EQ(rope.divisors.size(), 4U);
  EXPECT_DOUBLE_EQ(rope.divisors[0], 1.0);
  EXPECT_DOUBLE_EQ(rope.divisors[1], 4.0 / 3.0);
  EXPECT_DOUBLE_EQ(rope.divisors[2], 2.0);
  EXPECT_DOUBLE_EQ(rope.divisors[3], 4.0);
  EXPECT_DOUBLE_EQ(rope.scale, 1.0 + 0.1 * std::log(4.0));
}

// Without rounding the ramp goes from 0.69667 to 2.20182.
TEST(Rope, YarnMayKeepTheBoundsOfItsRampUnrounded) {
  const auto rope = rope_with(Json::object({{"rope_type", "yarn"},
                                            {"factor", 4.0},
                                            {"original_max_position_embeddings", 1000},
                                            {"truncate", false},
                                            {"attention_factor", 1.5}}));

  const double ramp = (1.0 - 0.69667) / (2.20182 - 0.69667);
  EXPECT_NEAR(rope.divisors[1], 1.0 / (1.0 - ramp + ramp / 4.0), 1e-4);
  EXPECT_DOUBLE_EQ(rope.divisors[3], 4.0);
  EXPECT_EQ(rope.scale, 1.5);
}

TEST(Rope, YarnOfTwoWeightsScalesByTheirRatio) {
  const auto rope = rope_with(Json::object(
      {{"rope_type", "yarn"}, {"factor", 4.0}, {"mscale", 2.0}, {"mscale_all_dim", 1.0}}));

  EXPECT_DOUBLE_EQ(rope.scale, (1.0 + 0.2 * std::log(4.0)) / (1.0 + 0.1 * std::log(4.0)));
}

TEST(Rope, LongRopeScalesByHowMuchLongerTheContextIs) {
  const Json::Array ones(4, Json(1.0));
  const Json::Array twos(4, Json(2.0));
  const auto rope = rope_with(Json::object({{"rope_type", "longrope"},
                                            {"short_factor", ones},
                                            {"long_factor", twos},
                                            {"original_max_position_embeddings", 16}}));

  EXPECT_THAT(rope.divisors, ElementsAre(1.0, 1.0, 1.0, 1.0));
  EXPECT_THAT(rope.long_divisors, ElementsAre(2.0, 2.0, 2.0, 2.0));
  EXPECT_EQ(rope.long_above, 16);
  EXPECT_DOUBLE_EQ(rope.scale, std::sqrt(1.0 + std::log(4.0) / std::log(16.0)));
}

TEST(Rope, WhatCannotBeIsRefusedByItsKey) {
  EXPECT_THAT(error_with(Json::object({{"type", "longrope"}, {"short_factor", Json::array({1})}})),
              HasSubstr("rope_scaling: short_factor is [1], but must be a list of 4 positive"));
  EXPECT_THAT(error_with(Json::object(
                  {{"type", "yarn"}, {"factor", 4}, {"beta_fast", 1}, {"beta_slow", 2}})),
              HasSubstr("beta_fast is 1.0, but must be greater"));
  EXPECT_THAT(error_with(Json::object({{"type", "yarn"}, {"factor", 4}, {"alpha", 1}})),
              HasSubstr("rope_scaling: alpha is 1, but this program does not know"));
  EXPECT_THAT(error_with(Json::object({{"type", "linear"}})), HasSubstr("factor is missing"));
  EXPECT_THAT(error_with(Json::object({{"type", "linear"}, {"factor", -1}})),
              HasSubstr("a rope divisor is -1, but must be positive"));
}

MemoryCheckpoint small_gemma3() {
  auto out = small_llama();
  out.set("architectures", Json::array({"Gemma3ForCausalLM"}));
  out.set("rope_theta", Json());
  out.set("attention_bias", Json());
  out.set("mlp_bias", Json());
  return out;
}

TEST(Rope, Gemma3HasOneForEachTypeOfLayer) {
  auto v5 = small_gemma3();
  v5.set(
      "rope_parameters",
      Json::object({{"full_attention",
                     Json::object({{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 1e6}})},
                    {"sliding_attention",
                     Json::object({{"rope_type", "default"}, {"rope_theta", 5000.0}})}}));
  auto v4 = small_gemma3();
  v4.set("rope_theta", 1e6);
  v4.set("rope_local_base_freq", 5000.0);
  v4.set("rope_scaling", Json::object({{"rope_type", "linear"}, {"factor", 8.0}}));

  for (const auto* checkpoint : {&v5, &v4}) {
    const auto spec = read_spec(*checkpoint);
    EXPECT_EQ(spec.rope.theta, 1e6);
    EXPECT_THAT(spec.rope.divisors, ElementsAre(8.0, 8.0, 8.0, 8.0));
    EXPECT_EQ(spec.window_rope.value().theta, 5000.0);
    EXPECT_TRUE(spec.window_rope->divisors.empty());
  }
}

TEST(Rope, WhatMustBeAnObjectIsNamedWhereItIsNone) {
  const auto error_of = [](MemoryCheckpoint checkpoint, Json ropes) -> std::string {
    checkpoint.set("rope_parameters", std::move(ropes));
    try {
      (void)read_spec(checkpoint);
    } catch (const FormatError& e) {
      return e.what();
    }
    return "";
  };

  EXPECT_EQ(error_of(small_gemma3(), Json::object({{"full_attention", 3}})),
            "MODEL/config.json: rope_parameters: full_attention is 3, but must be an object");
  EXPECT_EQ(error_of(small_gemma3(), Json::object({{"full_attention", Json::object()},
                                                   {"sliding_attention", Json::array({1})}})),
            "MODEL/config.json: rope_parameters: sliding_attention is [1], but must be an object");
  EXPECT_EQ(error_of(small_gemma3(), "yarn"),
            "MODEL/config.json: rope_parameters is \"yarn\", but must be an object");
  EXPECT_EQ(error_with(true), "MODEL/config.json: rope_scaling is true, but must be an object");
}

}  // namespace
}  // namespace sticky::test
