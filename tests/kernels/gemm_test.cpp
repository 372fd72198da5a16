#include "kernels/gemm.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "tests/kernels/cpu_fixture.hpp"

namespace sticky::test {
namespace {

/// A weight [n, k] packed into memory of its own.
class Packed {
 public:
  Packed(cpu::Packing packing, const std::vector<float>& w, i64 n, i64 k)
      : packing_(packing),
        n_(n),
        k_(k),
        panels_(static_cast<std::size_t>(cpu::n_panels(n) * cpu::panel_bytes(packing, k) / 64)) {
    for (i64 row = 0; row < n; row += cpu::kPanel) {
      const i64 rows = std::min(cpu::kPanel, n - row);
      auto* panel = static_cast<std::byte*>(static_cast<void*>(panels_.data()));
      is_exact_ &= cpu::pack_panel(packing, w.data() + row * k, rows, k,
                                   panel + row / cpu::kPanel * cpu::panel_bytes(packing, k));
    }
  }
  [[nodiscard]] cpu::PackedMatrix matrix() const { return {packing_, n_, k_, panels_.data()}; }
  [[nodiscard]] bool is_exact() const { return is_exact_; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  cpu::Packing packing_;
  i64 n_;
  i64 k_;
  bool is_exact_ = true;
  std::vector<Line> panels_;
};

std::vector<float> bf16_numbers(std::vector<float> values) {
  for (float& x : values)
    x = to_float(to_bf16(x));
  return values;
}

constexpr std::uint16_t kNotANumber = 0x7fc0;  // as bf16

struct Product {
  std::vector<float> bias;  ///< none where empty
  bool accumulate = false;
};

/// y, of m rows, which starts as garbage or, where it is added to, as uniform(…, 8).
std::vector<float> multiply(const cpu::Context& context,
                            const std::vector<float>& x,
                            i64 m,
                            const Packed& packed,
                            const Product& product = {}) {
  const auto w = packed.matrix();
  std::vector<float> y = uniform(m * w.n, 8);
  // What an earlier use left in the scratch must not be seen.
  std::vector<std::uint16_t> scratch(
      static_cast<std::size_t>(cpu::gemm_scratch_size(context, w, m)), kNotANumber);
  Gemm op = {.x = matrix(x, m, w.k), .accumulate = product.accumulate, .y = matrix(y, m, w.n)};
  if (!product.bias.empty()) op.bias = matrix(product.bias, 1, w.n);
  cpu::gemm(context, op, w, scratch);
  return y;
}

class GemmTest : public EachSet {};

void expect_formula(const cpu::Context& context, cpu::Packing packing, i64 m, i64 n, i64 k) {
  auto x = uniform(m * k, 1);
  const auto w = bf16_numbers(uniform(n * k, 2));
  const Product product = {.bias = uniform(n, 3), .accumulate = true};

  const auto y = multiply(context, x, m, Packed(packing, w, n, k), product);

  if (packing == cpu::Packing::bf16_pairs) x = bf16_numbers(x);
  const auto before = uniform(m * n, 8);
  for (i64 i = 0; i < m * n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    double want = static_cast<double>(before[at]) + static_cast<double>(product.bias[i % n]);
    double terms = std::abs(static_cast<double>(before[at])) + 1.0;
    for (i64 j = 0; j < k; ++j) {
      const double term =
          static_cast<double>(x[i / n * k + j]) * static_cast<double>(w[i % n * k + j]);
      want += term;
      terms += std::abs(term);
    }
    // k products, summed in any order, and two sums, each rounding a partial sum that is at most
    // the sum of all terms' sizes; products of bf16 numbers are exact.
    ASSERT_NEAR(static_cast<double>(y[at]), want, static_cast<double>(k + 2) * kRoundoff * terms)
        << m << " x " << n << " x " << k << " at row " << i / n << " column " << i % n;
  }
}

void expect_same_bits_for_any_rows_and_threads(cpu::InstructionSet set, cpu::Packing packing) {
  const i64 n = 330;
  const i64 k = 200;
  const auto x = uniform(40 * k, 1);
  const Packed w(packing, uniform(n * k, 2), n, k);
  SerialParallel serial;
  const auto want = multiply({cpu::kernel_table(set), serial}, x, 40, w);

  for (i64 m = 1; m <= 40; ++m) {
    for (const i64 n_threads : {1, 2, 7}) {
      BackwardParallel parallel(n_threads);
      const auto y = multiply({cpu::kernel_table(set), parallel}, x, m, w);
      EXPECT_TRUE(same_bits(y, {want.begin(), want.begin() + m * n}))
          << m << " rows, " << n_threads << " threads";
    }
  }
}

TEST_P(GemmTest, MatchesTheFormulaForEveryNumberOfRowsUpToFourTiles) {
  for (i64 m = 0; m <= 40; ++m)
    expect_formula(context(), cpu::Packing::f32, m, 70, 19);
}

TEST_P(GemmTest, MatchesTheFormulaForWidthsAroundAPanelAndRowsAroundABlock) {
  for (const i64 n : {1, 15, 16, 17, 31, 32, 33, 64, 300}) {
    for (const i64 m : {1, 2, 5, 12, 95, 97}) {
      expect_formula(context(), cpu::Packing::f32, m, n, 33);
      expect_formula(context(), cpu::Packing::bf16, m, n, 33);
    }
  }
}

TEST_P(GemmTest, WeightsOf16BitsGiveTheBitsOfTheSameWeightsIn32) {
  const i64 n = 100;
  const i64 k = 576;
  const auto w = bf16_numbers(uniform(n * k, 2));
  const auto x = uniform(13 * k, 1);
  const Packed narrow(cpu::Packing::bf16, w, n, k);
  const Packed wide(cpu::Packing::f32, w, n, k);

  EXPECT_TRUE(narrow.is_exact());
  EXPECT_TRUE(same_bits(multiply(context(), x, 13, narrow), multiply(context(), x, 13, wide)));
}

TEST_P(GemmTest, ARowsBitsDoNotDependOnTheNumberOfRowsOrThreads) {
  expect_same_bits_for_any_rows_and_threads(GetParam(), cpu::Packing::f32);
}

TEST_P(GemmTest, ColumnsBesideTheOutputAreLeftAlone) {
  const Packed w(cpu::Packing::f32, uniform(33 * 4, 2), 33, 4);
  const auto x = uniform(2 * 4, 1);
  std::vector<float> y(2 * 40, 42.0F);

  cpu::gemm(context(), {.x = matrix(x, 2, 4), .y = matrix(y, 2, 40).columns(3, 33)}, w.matrix(),
            {});

  for (i64 i = 0; i < 80; ++i)
    EXPECT_EQ(y[static_cast<std::size_t>(i)] == 42.0F, i % 40 < 3 || i % 40 >= 36) << i;
}

TEST_P(GemmTest, ShapesThatDisagreeAreRefused) {
  const Packed w(cpu::Packing::f32, uniform(8 * 4, 2), 8, 4);
  std::vector<float> x(2 * 4);
  std::vector<float> y(2 * 8);

  EXPECT_THROW(cpu::gemm(context(), {.x = matrix(x, 1, 5), .y = matrix(y, 1, 8)}, w.matrix(), {}),
               std::invalid_argument);
  EXPECT_THROW(cpu::gemm(context(), {.x = matrix(x, 2, 4), .y = matrix(y, 1, 8)}, w.matrix(), {}),
               std::invalid_argument);
  EXPECT_THROW(
      cpu::gemm(context(), {.x = matrix(x, 2, 4), .bias = matrix(x, 1, 7), .y = matrix(y, 2, 8)},
                w.matrix(), {}),
      std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(On, GemmTest, testing::ValuesIn(exact_sets()), name_of_set);

/// Products of bf16 numbers, on the instruction sets that have them.
class Bf16GemmTest : public EachSet {};

TEST_P(Bf16GemmTest, MatchesTheFormulaForEveryNumberOfRowsUpToThreeTiles) {
  for (i64 m = 0; m <= 49; ++m)
    expect_formula(context(), cpu::Packing::bf16_pairs, m, 70, 64);
}

TEST_P(Bf16GemmTest, MatchesTheFormulaForWidthsAndDepthsAroundATile) {
  for (const i64 n : {1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 300}) {
    for (const i64 k : {1, 2, 15, 16, 17, 31, 32, 33, 63, 100})
      expect_formula(context(), cpu::Packing::bf16_pairs, 3, n, k);
    expect_formula(context(), cpu::Packing::bf16_pairs, 97, n, 33);
  }
}

TEST_P(Bf16GemmTest, ARowsBitsDoNotDependOnTheNumberOfRowsOrThreads) {
  expect_same_bits_for_any_rows_and_threads(GetParam(), cpu::Packing::bf16_pairs);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Bf16GemmTest);
INSTANTIATE_TEST_SUITE_P(On, Bf16GemmTest, testing::ValuesIn(bf16_sets()), name_of_set);

TEST(GemmOnAllSets, GivesTheSameBits) {
  const i64 n = 100;
  const i64 k = 777;
  const auto x = uniform(29 * k, 1);
  const Packed w(cpu::Packing::f32, uniform(n * k, 2), n, k);
  SerialParallel serial;
  const auto want = multiply({cpu::kernel_table(cpu::InstructionSet::scalar), serial}, x, 29, w);
  for (const auto set : exact_sets())
    EXPECT_TRUE(same_bits(multiply({cpu::kernel_table(set), serial}, x, 29, w), want))
        << cpu::name(set);
}

// The contract itself, written out: one sum, ascending k, one fma each, then bias, then the old y.
TEST(GemmOnAllSets, IsOneChainOfFmaAnElement) {
  const i64 k = 301;
  const auto x = uniform(k, 1);
  const auto w = uniform(k, 2);
  const std::vector<float> bias = {0.3F};
  float want = 0.0F;
  for (i64 i = 0; i < k; ++i)
    want = std::fma(x[static_cast<std::size_t>(i)], w[static_cast<std::size_t>(i)], want);
  want = (want + bias[0]) + uniform(1, 8)[0];
  SerialParallel serial;
  for (const auto set : exact_sets()) {
    const auto y = multiply({cpu::kernel_table(set), serial}, x, 1,
                            Packed(cpu::Packing::f32, w, 1, k), {.bias = bias, .accumulate = true});
    EXPECT_EQ(y[0], want) << cpu::name(set);
  }
}

TEST(Packing, AValueThatIsNotABf16NumberIsReported) {
  std::vector<float> w(32 * 4, 1.0F);
  EXPECT_TRUE(Packed(cpu::Packing::bf16, w, 32, 4).is_exact());
  w.back() = 1.001F;
  EXPECT_FALSE(Packed(cpu::Packing::bf16, w, 32, 4).is_exact());
}

}  // namespace
}  // namespace sticky::test
