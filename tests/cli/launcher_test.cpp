#include "launcher.hpp"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.hpp"

namespace sticky::cli {
namespace {

using namespace std::chrono_literals;

TEST(Launch, IsEndedWhenNoCoordinatorComesOfIt) {
  const test::TempDir dir;

  EXPECT_EQ(launch({.line = {"sleep", "1000"}, .run_dir = dir.path() + "/d", .start_limit = 100ms}),
            5);
}

TEST(Launch, IsEndedEvenIfMpirunDoesNotListen) {
  const test::TempDir dir;

  EXPECT_EQ(launch({.line = {"sh", "-c", "trap '' TERM; sleep 1000; sleep 1000"},
                    .run_dir = dir.path() + "/d",
                    .start_limit = 100ms}),
            5);
}

}  // namespace
}  // namespace sticky::cli
