#include "src/engine/stop_matcher.hpp"

#include <gtest/gtest.h>

namespace sticky::engine {
namespace {

std::optional<i64> cut(std::vector<std::string> strings, std::string_view text, i64 n_old = 0) {
  return StopMatcher(std::move(strings), false).find(text, n_old);
}

TEST(StopMatcher, CutsBeforeAStringInsideNewText) {
  EXPECT_EQ(cut({"lo w"}, "hello world"), 3);
}

TEST(StopMatcher, FindsAStringThatBeganInOldText) {
  EXPECT_EQ(cut({"lo w"}, "hello w", 6), 3);
  EXPECT_EQ(cut({"lo w"}, "hello wo", 6), 3);
}

TEST(StopMatcher, LeavesStringsThatEndedInOldText) {
  EXPECT_EQ(cut({"lo"}, "hello world", 5), std::nullopt);
  EXPECT_EQ(cut({"lo", "o"}, "hello world", 5), 7);
}

TEST(StopMatcher, TakesTheEarliestWhateverItsPlaceInTheList) {
  EXPECT_EQ(cut({"world", "ell"}, "hello world"), 1);
  EXPECT_EQ(cut({"ell", "world"}, "hello world"), 1);
  EXPECT_EQ(cut({"l", "ello"}, "hello"), 1);
}

TEST(StopMatcher, KeepsTheStringWhenTold) {
  EXPECT_EQ(StopMatcher({"lo w"}, true).find("hello world", 0), 7);
  // Both begin at 1: the shorter was complete first.
  EXPECT_EQ(StopMatcher({"ello", "el"}, true).find("hello world", 0), 3);
}

TEST(StopMatcher, FindsNothingWhereNothingIs) {
  EXPECT_EQ(cut({}, "hello"), std::nullopt);
  EXPECT_EQ(cut({""}, "hello"), std::nullopt);
  EXPECT_EQ(cut({"xyz"}, "hello"), std::nullopt);
  EXPECT_EQ(cut({"hello!"}, "hello"), std::nullopt);
  EXPECT_EQ(cut({"a"}, ""), std::nullopt);
}

}  // namespace
}  // namespace sticky::engine
