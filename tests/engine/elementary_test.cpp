#include "src/engine/elementary.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace sticky::engine {
namespace {

constexpr double kUlp = 0x1p-52;

TEST(Elementary, ExpIsWithinTwoUnitsOfTheTrueValue) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> wide(-708.0, 0.0);
  std::uniform_real_distribution<double> narrow(-2.0, 0.0);
  for (int i = 0; i < 200'000; ++i) {
    const double x = i % 2 == 0 ? wide(random) : narrow(random);
    const long double want = std::exp(static_cast<long double>(x));
    ASSERT_NEAR(exp_nonpositive(x), static_cast<double>(want),
                static_cast<double>(want) * 2.0 * kUlp)
        << "x = " << x;
  }
}

TEST(Elementary, ExpAtItsEnds) {
  EXPECT_EQ(exp_nonpositive(0.0), 1.0);
  EXPECT_EQ(exp_nonpositive(-0.0), 1.0);
  EXPECT_GT(exp_nonpositive(-708.0), 0.0);
  EXPECT_EQ(exp_nonpositive(-708.8), 0.0);
  EXPECT_EQ(exp_nonpositive(-1e6), 0.0);
  EXPECT_EQ(exp_nonpositive(-std::numeric_limits<double>::infinity()), 0.0);
  EXPECT_EQ(exp_nonpositive(std::numeric_limits<double>::quiet_NaN()), 0.0);
}

TEST(Elementary, LogIsWithinItsBound) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponent(-40.0, 40.0);
  for (int i = 0; i < 100'000; ++i) {
    const double x = std::exp(exponent(random));
    const long double want = std::log(static_cast<long double>(x));
    ASSERT_NEAR(log_positive(x), static_cast<double>(want),
                1e-15 + std::abs(static_cast<double>(want)) * 2.0 * kUlp)
        << "x = " << x;
  }
  EXPECT_EQ(log_positive(1.0), 0.0);
}

}  // namespace
}  // namespace sticky::engine
