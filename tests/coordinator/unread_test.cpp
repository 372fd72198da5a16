#include <gtest/gtest.h>

#include "sticky/coordinator/progress.hpp"

namespace sticky::coordinator {
namespace {

TEST(Unread, ANewRunHasAsManyLinesForTheRestOfItsBytes) {
  EXPECT_EQ(n_unread({.n_read = 1000}, 100'000, 1'000'000), 9000);
  EXPECT_EQ(n_unread({.n_read = 1000}, 100'000, 100'000), 0);
}

// A million lines: the first 900,000 are recorded, and 4,000 others are read.
TEST(Unread, WhatWasSkippedOnResumeCountsForTheLengthOfALine) {
  const Counts counts{.n_read = 904'000, .n_done_before = 900'000, .n_results_before = 900'000};

  EXPECT_EQ(n_unread(counts, 90'400'000, 100'000'000), 96'000);
}

// The first 4,000 were left, all others are recorded.
TEST(Unread, WhatIsStillToBeSkippedIsNoWork) {
  const Counts counts{.n_read = 4000, .n_results_before = 990'000, .n_errors_before = 6000};

  EXPECT_EQ(n_unread(counts, 400'000, 100'000'000), 0);
}

TEST(Unread, NothingIsKnownOfAPipeOrBeforeTheFirstLine) {
  EXPECT_EQ(n_unread({.n_read = 1000}, 100'000, -1), 0);
  EXPECT_EQ(n_unread({}, 0, 100'000), 0);
}

}  // namespace
}  // namespace sticky::coordinator
