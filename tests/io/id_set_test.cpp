#include "src/io/id_set.hpp"

#include <gtest/gtest.h>

namespace sticky::io {

TEST(IdSet, HoldsEachHashOnceAcrossGrowth) {
  IdSet ids;
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i)
    ASSERT_TRUE(ids.insert(hash128(std::to_string(i)))) << i;
  for (int i = 0; i < kCount; ++i)
    ASSERT_FALSE(ids.insert(hash128(std::to_string(i)))) << i;

  EXPECT_EQ(ids.size(), kCount);
}

TEST(IdSet, HashesThatFallIntoOneSlotAreKeptApart) {
  IdSet ids;
  for (std::uint64_t high = 0; high < 700; ++high)
    ASSERT_TRUE(ids.insert({high, 1023}));  // the last slot of the first table: probing wraps
  for (std::uint64_t high = 0; high < 700; ++high)
    ASSERT_FALSE(ids.insert({high, 1023}));
}

TEST(IdSet, TheHashOfZerosIsOneLikeAnyOther) {
  IdSet ids;

  EXPECT_TRUE(ids.insert({}));
  EXPECT_FALSE(ids.insert({}));
}

}  // namespace sticky::io
