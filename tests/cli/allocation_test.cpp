#include "allocation.hpp"

#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>

namespace sticky::cli {
namespace {

TEST(Allocation, EndIsReadInLocalTime) {
  setenv("TZ", "UTC-2", 1);  // POSIX: two hours east of Greenwich
  tzset();

  EXPECT_EQ(parse_slurm_time("2026-01-02T05:04:05\n"), 1767323045);
}

TEST(Allocation, WithoutAnEndHasNone) {
  EXPECT_FALSE(parse_slurm_time(""));
  EXPECT_FALSE(parse_slurm_time("Unknown"));
  EXPECT_FALSE(parse_slurm_time("NONE\n"));
}

}  // namespace
}  // namespace sticky::cli
