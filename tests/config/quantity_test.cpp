#include "quantity.hpp"

#include <gtest/gtest.h>

namespace sticky::config {
namespace {

TEST(Durations, AreReadWithEveryUnitAndInARow) {
  EXPECT_EQ(parse_duration("90s"), 90.0);
  EXPECT_EQ(parse_duration("5m"), 300.0);
  EXPECT_EQ(parse_duration("1h30m"), 5400.0);
  EXPECT_EQ(parse_duration("2d"), 172800.0);
  EXPECT_EQ(parse_duration("250ms"), 0.25);
  EXPECT_EQ(parse_duration("1.5 h"), 5400.0);
  EXPECT_EQ(parse_duration("42"), 42.0);
}

TEST(Durations, OfAnotherFormAreRefused) {
  for (const char* text : {"", "s", "5x", "-5s", "5m3", "1e3s", "1..5s", "m5", "5 s s", "inf"})
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
}

TEST(Durations, AreWrittenSoThatTheyReadBack) {
  EXPECT_EQ(format_duration(60.0), "60s");
  EXPECT_EQ(format_duration(7200.0), "2h");
  EXPECT_EQ(format_duration(5400.0), "1h30m");
  EXPECT_EQ(format_duration(0.25), "250ms");
  for (const double seconds : {0.0, 0.25, 1.0, 59.0, 3599.0, 3600.0, 3661.0, 86400.0, 0.0625})
    EXPECT_EQ(parse_duration(format_duration(seconds)), seconds);
}

TEST(Sizes, AreReadInBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_size("64MiB"), 64 << 20);
  EXPECT_EQ(parse_size("64Mi"), 64 << 20);
  EXPECT_EQ(parse_size("1.5 GiB"), 3LL << 29);
  EXPECT_EQ(parse_size("10MB"), 10'000'000);
  EXPECT_EQ(parse_size("3kB"), 3000);
  EXPECT_EQ(parse_size("512"), 512);
  EXPECT_EQ(parse_size("7B"), 7);
}

TEST(Sizes, OfAnotherFormAreRefused) {
  for (const char* text : {"", "MB", "5XB", "-1MB", "5MBB", "1 M B", "9999999999TiB"})
    EXPECT_FALSE(parse_size(text).has_value()) << text;
}

TEST(Sizes, AreWrittenSoThatTheyReadBack) {
  EXPECT_EQ(format_size(64 << 20), "64MiB");
  EXPECT_EQ(format_size(1000), "1000");
  for (const i64 n : {i64{0}, i64{1}, i64{1023}, i64{1024}, i64{1} << 40, (i64{1} << 40) + 1})
    EXPECT_EQ(parse_size(format_size(n)), n);
}

}  // namespace
}  // namespace sticky::config
