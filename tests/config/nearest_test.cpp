#include "nearest.hpp"

#include <gtest/gtest.h>

namespace sticky::config {
namespace {

TEST(EditDistance, CountsSingleLettersAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("inptu", "input"), 1);
  EXPECT_EQ(edit_distance("ab", "ba"), 1);
}

TEST(Nearest, FindsTheKeyWithFewestWrongLetters) {
  const std::vector<std::string> keys{"run.batch", "run.grace", "run.attempts"};
  EXPECT_EQ(nearest("run.grcae", keys), "run.grace");
  EXPECT_EQ(nearest("run.attempt", keys), "run.attempts");
}

TEST(Nearest, FindsTheSameNameInAnotherSection) {
  EXPECT_EQ(nearest("temperature", {"run.grace", "sampling.temperature"}), "sampling.temperature");
}

TEST(Nearest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("zzzzzz", {"run.batch", "run.grace"}), "");
  EXPECT_EQ(nearest("run.batch", {}), "");
}

}  // namespace
}  // namespace sticky::config
