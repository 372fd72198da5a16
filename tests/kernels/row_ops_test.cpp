// The operations that work row by row: embed, rmsnorm, glu, activate, softcap, rope_and_store.
#include <cmath>
#include <limits>

#include "kernels/activate.hpp"
#include "kernels/embed.hpp"
#include "kernels/glu.hpp"
#include "kernels/rmsnorm.hpp"
#include "kernels/rope.hpp"
#include "kernels/softcap.hpp"
#include "tests/kernels/cpu_fixture.hpp"

namespace sticky::test {
namespace {

double at(const std::vector<float>& values, i64 i) {
  return static_cast<double>(values[static_cast<std::size_t>(i)]);
}

class RowOpsTest : public EachSet {};

std::vector<float> normalise(const cpu::Context& context, const std::vector<float>& x, i64 rows) {
  const i64 cols = static_cast<i64>(x.size()) / rows;
  const auto weight = uniform(cols, 2);
  std::vector<float> y(x.size(), 42.0F);
  // eps is large, so that one in the wrong place is seen.
  cpu::rmsnorm(context, {.x = matrix(x, rows, cols),
                         .weight = matrix(weight, 1, cols),
                         .eps = 0.1F,
                         .weight_offset = 1.0F,
                         .y = matrix(y, rows, cols)});
  return y;
}

TEST_P(RowOpsTest, RmsNormMatchesTheFormula) {
  for (const i64 cols : {1, 15, 16, 17, 33, 576}) {
    const auto x = uniform(3 * cols, 1);
    const auto weight = uniform(cols, 2);

    const auto y = normalise(context(), x, 3);

    for (i64 i = 0; i < 3 * cols; ++i) {
      double squares = 0.0;
      for (i64 c = 0; c < cols; ++c)
        squares += at(x, i / cols * cols + c) * at(x, i / cols * cols + c);
      const double scale = 1.0 / std::sqrt(squares / static_cast<double>(cols) + 0.1);
      const double want = at(x, i) * scale * (1.0 + at(weight, i % cols));
      // cols / 16 + 4 sums of positive terms, whose error the root halves; eps, its sum, the mean,
      // the root, the inverse and 3 more operations, which also see 1 + weight near 0.
      const double error = static_cast<double>(cols / 32 + 10) * kRoundoff;
      ASSERT_NEAR(at(y, i), want, error * std::abs(at(x, i) * scale) * 2.0) << cols << " at " << i;
    }
  }
}

TEST_P(RowOpsTest, RmsNormMayWriteToItsInput) {
  auto x = uniform(2 * 40, 1);
  const auto want = normalise(context(), x, 2);
  const auto weight = uniform(40, 2);

  cpu::rmsnorm(context(), {.x = matrix(x, 2, 40),
                           .weight = matrix(weight, 1, 40),
                           .eps = 0.1F,
                           .weight_offset = 1.0F,
                           .y = matrix(x, 2, 40)});

  EXPECT_TRUE(same_bits(x, want));
}

/// Gates over the whole range of each activation, also where e^x ends, times up = 1.
std::vector<float> gates() {
  std::vector<float> x;
  for (double v = -120.0; v <= 120.0; v += 0.37)
    x.push_back(static_cast<float>(v));
  for (double v = -6.0; v <= 6.0; v += 0.011)
    x.push_back(static_cast<float>(v));
  return x;
}

std::vector<float> activate(const cpu::Context& context,
                            const std::vector<float>& gate,
                            Activation a) {
  const auto n = static_cast<i64>(gate.size());
  std::vector<float> x = gate;
  x.resize(gate.size() * 2, 1.0F);
  std::vector<float> y(gate.size());
  cpu::glu(context, {.x = matrix(x, 1, 2 * n), .activation = a, .y = matrix(y, 1, n)});
  return y;
}

TEST_P(RowOpsTest, GluMatchesTheFormulaOfEachActivation) {
  const auto x = gates();
  const auto silu = activate(context(), x, Activation::silu);
  const auto gelu_tanh = activate(context(), x, Activation::gelu_tanh);
  const auto gelu_erf = activate(context(), x, Activation::gelu_erf);
  for (i64 i = 0; i < static_cast<i64>(x.size()); ++i) {
    const double v = at(x, i);
    const double cubic = std::sqrt(2.0 / M_PI) * (v + 0.044715 * v * v * v);
    // e^u is off by 2 + |u| roundoffs (its argument's own), so a gate g = 1 / (1 + e^-u) by at most
    // that times g (1 - g) |u| …, under 8 roundoffs of |x| in all for every u; erfc's polynomial
    // adds 1.2e-7, two roundoffs. e^88 bounds what underflows.
    const double error = 8.0 * kRoundoff * std::abs(v) + 120.0 * std::exp(-88.0);
    EXPECT_NEAR(at(silu, i), v / (1.0 + std::exp(-v)), error) << v;
    EXPECT_NEAR(at(gelu_tanh, i), 0.5 * v * (1.0 + std::tanh(cubic)), error) << v;
    EXPECT_NEAR(at(gelu_erf, i), 0.5 * v * (1.0 + std::erf(v / std::sqrt(2.0))), error) << v;
  }
}

TEST_P(RowOpsTest, GluMultipliesGateByUpAndKeepsNaN) {
  std::vector<float> x = {1.0F, std::numeric_limits<float>::quiet_NaN(), 3.0F, 2.0F, 5.0F, -2.0F};
  std::vector<float> y(3);

  cpu::glu(context(), {.x = matrix(x, 1, 6), .y = matrix(y, 1, 3)});

  EXPECT_NEAR(y[0], 2.0 / (1.0 + std::exp(-1.0)), 1e-6);
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_NEAR(y[2], -6.0 / (1.0 + std::exp(-3.0)), 1e-5);
}

TEST_P(RowOpsTest, ActivateIsAGateOfOnes) {
  for (const auto a : {Activation::silu, Activation::gelu_tanh, Activation::gelu_erf}) {
    auto x = gates();
    const auto n = static_cast<i64>(x.size());
    const auto want = activate(context(), x, a);

    cpu::activate(context(), {.x = matrix(x, 1, n), .activation = a, .y = matrix(x, 1, n)});

    EXPECT_TRUE(same_bits(x, want));
  }
}

TEST_P(RowOpsTest, SoftcapBendsLargeNumbersToTheCap) {
  auto x = gates();
  const auto before = x;

  cpu::softcap(context(), {.x = matrix(x, 1, static_cast<i64>(x.size())), .cap = 5.0F});

  for (i64 i = 0; i < static_cast<i64>(x.size()); ++i) {
    // The quotient's error moves tanh by no more than itself, tanh errs by 4 roundoffs.
    const double exact = 5.0 * std::tanh(at(before, i) / 5.0);
    EXPECT_NEAR(at(x, i), exact, 8.0 * kRoundoff * std::abs(exact)) << at(before, i);
  }
  EXPECT_THROW(cpu::softcap(context(), {.x = matrix(x, 1, 1)}), std::invalid_argument);
}

TEST_P(RowOpsTest, EmbedAddsThePositionsOfEachSequence) {
  const std::vector<float> table = {1, 2, 3, 4};
  const std::vector<float> positions = {10, 20, 30, 40, 50, 60};
  const std::vector<i32> tokens = {1, 0, 1};
  std::vector<float> y(6);
  std::vector<SequenceRows> sequences = {
      {.first_row = 0, .n_rows = 1, .first_position = 2, .pages = {}},
      {.first_row = 1, .n_rows = 2, .first_position = 0, .pages = {}}};
  const auto embed = [&] {
    cpu::embed(context(), {.tokens = tokens,
                           .table = matrix(table, 2, 2),
                           .scale = 2.0F,
                           .positions = matrix(positions, 3, 2),
                           .sequences = sequences,
                           .y = matrix(y, 3, 2)});
  };

  embed();

  EXPECT_EQ(y, (std::vector<float>{56, 68, 12, 24, 36, 48}));
  sequences[1].first_position = 2;  // its second row would stand behind the last position
  EXPECT_THROW(embed(), std::invalid_argument);
}

TEST_P(RowOpsTest, EmbedScalesTheRowsOfItsTokens) {
  const std::vector<BFloat16> table = {to_bf16(1.5F), to_bf16(-2.0F), to_bf16(3.0F),
                                       to_bf16(0.25F)};
  const std::vector<i32> tokens = {1, 0, 1};
  std::vector<float> y(6);
  const auto embed = [&](std::span<const i32> ids) {
    cpu::embed(context(), {.tokens = ids,
                           .table = Rows<const BFloat16>{table.data(), 2, 2, 2},
                           .scale = 2.0F,
                           .y = matrix(y, static_cast<i64>(ids.size()), 2)});
  };

  embed(tokens);

  EXPECT_EQ(y, (std::vector<float>{6.0F, 0.5F, 3.0F, -4.0F, 6.0F, 0.5F}));
  EXPECT_THROW(embed(std::vector<i32>{2}), std::invalid_argument);
  EXPECT_THROW(embed(std::vector<i32>{-1}), std::invalid_argument);
}

// One head each of q, k and v, head_dim 4, of which 2 rotate: by 90 degrees at position 17.
TEST_P(RowOpsTest, RopeRotatesTheFrontOfEachHeadAndStoresKeysAndValuesInTheirSlot) {
  std::vector<float> qkv = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<float> cos(18, 1.0F);
  std::vector<float> sin(18, 0.0F);
  cos[17] = 0.0F;
  sin[17] = 1.0F;
  std::vector<float> k(3 * 4 * 16, -1.0F);
  std::vector<float> v = k;
  const std::vector<i32> pages = {0, 2};
  const SequenceRows rows = {.first_row = 0, .n_rows = 1, .first_position = 17, .pages = pages};

  cpu::rope_and_store(context(), {.qkv = matrix(qkv, 1, 12),
                                  .n_heads = 1,
                                  .cos = matrix(cos, 18, 1),
                                  .sin = matrix(sin, 18, 1),
                                  .sequences = {&rows, 1},
                                  .kv = {k.data(), v.data(), DType::f32, 3, 1, 4}});

  EXPECT_EQ(std::vector<float>(qkv.begin(), qkv.begin() + 4), (std::vector<float>{-2, 1, 3, 4}));
  std::vector<float> want_k(3 * 4 * 16, -1.0F);
  std::vector<float> want_v = want_k;
  const float key[] = {-6, 5, 7, 8};
  for (i64 d = 0; d < 4; ++d) {
    want_k[static_cast<std::size_t>(2 * 64 + d * 16 + 1)] = key[d];
    want_v[static_cast<std::size_t>(2 * 64 + 1 * 4 + d)] = static_cast<float>(9 + d);
  }
  EXPECT_EQ(k, want_k);
  EXPECT_EQ(v, want_v);
}

TEST_P(RowOpsTest, RopeWithoutTablesStoresKeysAsTheyAre) {
  std::vector<float> qkv = {1, 2, 3, 4, 5, 6};
  std::vector<float> k(2 * 16);
  std::vector<float> v = k;
  const std::vector<i32> pages = {0};
  const SequenceRows rows = {.first_row = 0, .n_rows = 1, .first_position = 9, .pages = pages};

  cpu::rope_and_store(context(), {.qkv = matrix(qkv, 1, 6),
                                  .n_heads = 1,
                                  .cos = {},
                                  .sin = {},
                                  .sequences = {&rows, 1},
                                  .kv = {k.data(), v.data(), DType::f32, 1, 1, 2}});

  EXPECT_EQ(qkv, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(k[9], 3.0F);
  EXPECT_EQ(k[16 + 9], 4.0F);
  EXPECT_EQ(v[18], 5.0F);
}

TEST_P(RowOpsTest, NoRowsAreNoError) {
  const std::vector<float> none;
  const std::vector<float> weight(4);
  std::vector<float> y;
  cpu::rmsnorm(context(),
               {.x = matrix(none, 0, 4), .weight = matrix(weight, 1, 4), .y = matrix(y, 0, 4)});
  cpu::glu(context(), {.x = matrix(none, 0, 8), .y = matrix(y, 0, 4)});
}

INSTANTIATE_TEST_SUITE_P(On, RowOpsTest, testing::ValuesIn(exact_sets()), name_of_set);

TEST(RowOpsOnAllSets, GiveTheSameBits) {
  SerialParallel serial;
  const cpu::Context scalar = {cpu::kernel_table(cpu::InstructionSet::scalar), serial};
  const auto x = uniform(7 * 577, 5);
  for (const auto set : exact_sets()) {
    const cpu::Context context = {cpu::kernel_table(set), serial};
    EXPECT_TRUE(same_bits(normalise(context, x, 7), normalise(scalar, x, 7))) << cpu::name(set);
    for (const auto a : {Activation::silu, Activation::gelu_tanh, Activation::gelu_erf})
      EXPECT_TRUE(same_bits(activate(context, gates(), a), activate(scalar, gates(), a)))
          << cpu::name(set) << " activation " << static_cast<int>(a);
  }
}

}  // namespace
}  // namespace sticky::test
