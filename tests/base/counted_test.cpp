#include "sticky/base/counted.hpp"

#include <gtest/gtest.h>

namespace sticky {
namespace {

TEST(Counted, GivesTheNounThatItsCountWants) {
  EXPECT_EQ(counted(0, "worker"), "0 workers");
  EXPECT_EQ(counted(1, "worker"), "1 worker");
  EXPECT_EQ(counted(2, "worker"), "2 workers");
  EXPECT_EQ(counted(1, "process", "processes"), "1 process");
  EXPECT_EQ(counted(3, "process", "processes"), "3 processes");
  EXPECT_EQ(noun_for(1, "request"), "request");
}

}  // namespace
}  // namespace sticky
