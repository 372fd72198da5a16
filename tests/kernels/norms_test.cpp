// rmsnorm and layernorm over groups of columns, added to what is there, and with biases.
#include <cmath>
#include <numeric>

#include "kernels/layernorm.hpp"
#include "kernels/rmsnorm.hpp"
#include "tests/kernels/cpu_fixture.hpp"

namespace sticky::test {
namespace {

class NormsTest : public EachSet {};

std::vector<float> shifted(std::vector<float> x, float by) {
  for (float& v : x)
    v += by;
  return x;
}

// (x - m) / sqrt(v + 0.1) * weight + bias in double, of one group.
double want(std::span<const float> x, i64 i, double weight, double bias) {
  const auto n = static_cast<double>(x.size());
  double mean = 0.0;
  for (const float v : x)
    mean += double{v} / n;
  double variance = 0.0;
  for (const float v : x)
    variance += (v - mean) * (v - mean) / n;
  return (x[static_cast<std::size_t>(i)] - mean) / std::sqrt(variance + 0.1) * weight + bias;
}

TEST_P(NormsTest, LayerNormMatchesTheFormulaEvenFarFromZero) {
  for (const i64 cols : {1, 15, 16, 17, 33, 576}) {
    for (const float centre : {0.0F, 8.0F}) {
      const auto x = shifted(uniform(3 * cols, 1), centre);
      const auto weight = uniform(cols, 2);
      const auto bias = uniform(cols, 3);
      std::vector<float> y(x.size(), 42.0F);

      cpu::layernorm(context(), {.x = matrix(x, 3, cols),
                                 .weight = matrix(weight, 1, cols),
                                 .bias = matrix(bias, 1, cols),
                                 .eps = 0.1F,
                                 .y = matrix(y, 3, cols)});

      for (i64 i = 0; i < 3 * cols; ++i) {
        const auto row = std::span(x).subspan(static_cast<std::size_t>(i / cols * cols),
                                              static_cast<std::size_t>(cols));
        const auto c = static_cast<std::size_t>(i % cols);
        // The mean sums cols / 16 + 4 terms of at most centre + 1; what it errs by, each difference
        // errs by, and so does the spread, which is at least sqrt(0.1). The rest are some ten
        // operations on numbers of at most 2 / sqrt(0.1).
        const double mean_error = static_cast<double>(cols / 16 + 6) * (centre + 1.0);
        const double error = (2.0 * mean_error + static_cast<double>(cols / 16 + 20)) * kRoundoff *
                             2.0 / std::sqrt(0.1);
        ASSERT_NEAR(y[static_cast<std::size_t>(i)],
                    want(row, i % cols, double{weight[c]}, double{bias[c]}), error)
            << cols << " columns around " << centre << ", element " << i;
      }
    }
  }
}

// Groups of 20 columns in rows of 3 groups that are 7 apart, so that strides are seen too.
constexpr i64 kGroup = 20;
constexpr i64 kCols = 3 * kGroup;
constexpr i64 kStride = kCols + 7;

Rows<float> strided(std::vector<float>& values) {
  return {values.data(), 2, kCols, kStride};
}

template <class Norm>
std::vector<float> norm_all(const cpu::Context& context,
                            void (*run)(const cpu::Context&, const Norm&),
                            i64 group,
                            std::vector<float> x,
                            const std::vector<float>& weight) {
  Norm op;
  op.group = group;
  op.x = strided(x);
  op.y = strided(x);
  op.weight = matrix(weight, 1, static_cast<i64>(weight.size()));
  run(context, op);
  return x;
}

template <class Norm>
void check_groups(const cpu::Context& context, void (*run)(const cpu::Context&, const Norm&)) {
  const auto x = uniform(2 * kStride, 1);
  const auto shared = uniform(kGroup, 2);
  const auto own = uniform(kCols, 3);
  const auto with_shared = norm_all(context, run, kGroup, x, shared);
  const auto with_own = norm_all(context, run, kGroup, x, own);
  auto want_shared = x;
  auto want_own = x;
  for (i64 row = 0; row < 2; ++row) {
    for (i64 g = 0; g < 3; ++g) {
      const i64 at = row * kStride + g * kGroup;
      const auto one = [&](std::vector<float>& all, const float* weight) {
        const Rows<float> group{all.data() + at, 1, kGroup, kGroup};
        Norm op;
        op.x = group;
        op.y = group;
        op.weight = Rows<const float>{weight, 1, kGroup, kGroup};
        run(context, op);
      };
      one(want_shared, shared.data());
      one(want_own, own.data() + g * kGroup);
    }
  }
  EXPECT_TRUE(same_bits(with_shared, want_shared));
  EXPECT_TRUE(same_bits(with_own, want_own));
}

TEST_P(NormsTest, GroupsAreNormedEachByItselfWithSharedOrOwnWeights) {
  check_groups<RmsNorm>(context(), cpu::rmsnorm);
  check_groups<LayerNorm>(context(), cpu::layernorm);
}

TEST_P(NormsTest, ANormMayBeAddedToWhatIsThere) {
  const auto x = uniform(2 * 33, 1);
  const auto weight = uniform(33, 2);
  const auto before = uniform(2 * 33, 3);
  const auto run = [&](auto op, auto* function) {
    std::vector<float> alone(x.size());
    op.x = matrix(x, 2, 33);
    op.weight = matrix(weight, 1, 33);
    op.y = matrix(alone, 2, 33);
    function(context(), op);
    auto added = before;
    op.accumulate = true;
    op.y = matrix(added, 2, 33);
    function(context(), op);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(added[i], alone[i] + before[i]);
  };
  run(RmsNorm(), &cpu::rmsnorm);
  run(LayerNorm(), &cpu::layernorm);
}

TEST_P(NormsTest, ShapesThatDisagreeAreRefused) {
  std::vector<float> x(12);
  const std::vector<float> weight(12);
  const auto run = [&](i64 cols, i64 n_weights, i64 n_biases, i64 group) {
    cpu::layernorm(context(), {.x = matrix(x, 1, 12),
                               .weight = matrix(weight, 1, n_weights),
                               .bias = n_biases == 0 ? ConstMatrix() : matrix(weight, 1, n_biases),
                               .group = group,
                               .y = matrix(x, 1, cols)});
  };
  run(12, 12, 12, 0);
  run(12, 4, 4, 4);
  EXPECT_THROW(run(11, 12, 0, 0), std::invalid_argument);
  EXPECT_THROW(run(12, 11, 0, 0), std::invalid_argument);
  EXPECT_THROW(run(12, 12, 4, 4), std::invalid_argument);
  EXPECT_THROW(run(12, 12, 0, 5), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(On, NormsTest, testing::ValuesIn(exact_sets()), name_of_set);

TEST(NormsOnAllSets, GiveTheSameBits) {
  SerialParallel serial;
  const cpu::Context scalar = {cpu::kernel_table(cpu::InstructionSet::scalar), serial};
  const auto x = uniform(2 * kStride, 1);
  const auto weight = uniform(kCols, 2);
  for (const auto set : exact_sets()) {
    const cpu::Context context = {cpu::kernel_table(set), serial};
    EXPECT_TRUE(same_bits(norm_all<LayerNorm>(context, cpu::layernorm, 0, x, weight),
                          norm_all<LayerNorm>(scalar, cpu::layernorm, 0, x, weight)))
        << cpu::name(set);
  }
}

}  // namespace
}  // namespace sticky::test
