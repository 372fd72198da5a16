#include "sticky/base/random.hpp"

#include <gtest/gtest.h>

namespace sticky {
namespace {

using Words = std::array<std::uint32_t, 4>;

// Known answers that the authors publish with Random123 (kat_vectors, philox4x32 10 rounds).
TEST(Philox, GivesTheAuthorsKnownAnswers) {
  EXPECT_EQ(philox({0, 0}, {0, 0, 0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Uniform01, StaysBelowOneAndUsesTheHighBits) {
  EXPECT_EQ(uniform01(0, 0), 0.0);
  EXPECT_EQ(uniform01(0x80000000, 0), 0.5);
  EXPECT_LT(uniform01(0xffffffff, 0xffffffff), 1.0);
  EXPECT_EQ(uniform01(0, 0x7ff), 0.0);  // the 11 lowest bits do not fit a double
}

}  // namespace
}  // namespace sticky
