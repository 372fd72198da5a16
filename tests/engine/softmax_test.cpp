#include "sticky/engine/softmax.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace sticky::engine {
namespace {

TEST(Softmax, GivesSharesThatAddUpToOne) {
  const std::vector<double> values{-1.5, -0.25, -700.0, -3.0};
  const auto shares = softmax(values);

  double sum = 0.0;
  for (const double value : values)
    sum += std::exp(value);
  ASSERT_EQ(shares.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(shares[i], std::exp(values[i]) / sum, 1e-15);
}

// Sums of -9999 for each impossible token are far below what e^x can be.
TEST(Softmax, StaysFiniteForWhatIsAsGoodAsImpossible) {
  EXPECT_EQ(softmax(std::vector<double>{-99990.0, -99990.0}), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(softmax(std::vector<double>{-1.0, -99990.0}), (std::vector<double>{1.0, 0.0}));
  EXPECT_EQ(softmax(std::vector<double>{-5.0}), std::vector<double>{1.0});
  EXPECT_TRUE(softmax({}).empty());
}

}  // namespace
}  // namespace sticky::engine
