#include "sticky/coordinator/pace.hpp"

#include <gtest/gtest.h>

namespace sticky::coordinator {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{};

TEST(Pace, TheRateIsResultsBySecondsInWhichItHeldWork) {
  Pace pace;
  pace.begin(kStart);
  pace.note(4, 4, 4, kStart + 2s);
  EXPECT_DOUBLE_EQ(pace.rate(), 2.0);

  pace.begin(kStart + 100s);  // idle till then
  pace.note(4, 4, 4, kStart + 102s);
  EXPECT_DOUBLE_EQ(pace.rate(), 2.0);
}

TEST(Pace, AQuarterOfTheSlotsMustBeAnsweredBeforeAnythingIsKnown) {
  Pace pace;
  pace.begin(kStart);
  pace.note(1, 8, 8, kStart + 1s);
  EXPECT_FALSE(pace.is_known());
  pace.note(1, 8, 8, kStart + 2s);
  EXPECT_DOUBLE_EQ(pace.rate(), 1.0);
}

TEST(Pace, AChangeIsFollowedByAQuarter) {
  Pace pace;
  pace.begin(kStart);
  pace.note(4, 4, 4, kStart + 1s);  // 4 a second
  pace.note(4, 4, 4, kStart + 3s);  // 2 a second
  EXPECT_DOUBLE_EQ(pace.rate(), 3.5);
}

TEST(Pace, AWorkerWithLittleToDoCannotSeemSlowerButFaster) {
  Pace pace;
  pace.begin(kStart);
  pace.note(8, 8, 8, kStart + 1s);  // 8 a second
  pace.note(2, 2, 8, kStart + 2s);  // 2 a second, for it held no more
  EXPECT_DOUBLE_EQ(pace.rate(), 8.0);
  pace.note(3, 3, 8, kStart + 2250ms);  // 12 a second all the same
  EXPECT_DOUBLE_EQ(pace.rate(), 9.0);
}

TEST(Pace, FromAWorkerThatStandsStillLessAndLessIsExpected) {
  Pace pace;
  pace.begin(kStart);
  pace.note(4, 8, 8, kStart + 1s);  // 4 a second, and holds 4 more
  EXPECT_DOUBLE_EQ(pace.expected(99.0, 4, kStart + 1500ms), 4.0);
  EXPECT_DOUBLE_EQ(pace.expected(99.0, 4, kStart + 5s), 1.0);
  EXPECT_DOUBLE_EQ(pace.expected(99.0, 0, kStart + 5s), 4.0);  // idle, not slow
}

TEST(Pace, WhereNothingIsKnownTheGivenRateIsExpected) {
  Pace pace;
  pace.begin(kStart);
  EXPECT_DOUBLE_EQ(pace.expected(7.0, 5, kStart), 7.0);
  EXPECT_DOUBLE_EQ(pace.expected(7.0, 5, kStart + 10s), 0.5);
}

TEST(Pace, APauseOfTheWholeJobIsNoTimeOfWork) {
  Pace pace;
  pace.begin(kStart);
  pace.forgive(60s, kStart + 61s);
  pace.note(4, 4, 4, kStart + 61s);
  EXPECT_DOUBLE_EQ(pace.rate(), 4.0);
}

}  // namespace
}  // namespace sticky::coordinator
