#include "sticky/base/hash.hpp"

#include <gtest/gtest.h>

namespace sticky {
namespace {

// XXH3_128bits of the empty input, as the xxHash project publishes it.
TEST(Hash128, IsXxh3) {
  EXPECT_EQ(hash128("").hex(), "99aa06d3014798d86001c324468d497f");
}

TEST(Hash128, SurvivesItsHexadecimalForm) {
  const Hash128 hash = hash128("a claim");

  EXPECT_EQ(Hash128::from_hex(hash.hex()), hash);
  EXPECT_EQ(Hash128::from_hex("00000000000000010000000000000002"), (Hash128{1, 2}));
}

TEST(Hash128, RefusesWhatHexWouldNotWrite) {
  const std::string good = hash128("x").hex();

  EXPECT_FALSE(Hash128::from_hex(good.substr(1)));
  EXPECT_FALSE(Hash128::from_hex(good + "0"));
  EXPECT_FALSE(Hash128::from_hex("+" + good.substr(1)));
  EXPECT_FALSE(Hash128::from_hex("A" + good.substr(1)));
}

}  // namespace
}  // namespace sticky
