#include "sticky/base/iso_time.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sticky {
namespace {

TEST(IsoTime, HasADateAndPerhapsATimeOfDay) {
  EXPECT_EQ(parse_iso_time("2024-02-29"), (CalendarTime{.year = 2024, .month = 2, .day = 29}));
  EXPECT_EQ(parse_iso_time("2026-01-15T12:30"),
            (CalendarTime{.year = 2026, .month = 1, .day = 15, .hour = 12, .minute = 30}));
  const CalendarTime full{.year = 2026,
                          .month = 12,
                          .day = 31,
                          .hour = 23,
                          .minute = 59,
                          .second = 58,
                          .microsecond = 500'000};
  for (const std::string offset : {"", "Z", "+01", "-08:30", "+0100"})
    EXPECT_EQ(parse_iso_time("2026-12-31 23:59:58.5" + offset), full) << offset;
  EXPECT_EQ(parse_iso_time("2026-01-01T00:00:00.1234567")->microsecond, 123'456);
}

TEST(IsoTime, IsNothingElse) {
  for (const char* text : {"",
                           "x",
                           "yesterday",
                           "2026",
                           "2026-01",
                           "2026-1-5",
                           "26-01-05",
                           "2026-13-01",
                           "2026-00-01",
                           "2026-02-30",
                           "2025-02-29",
                           "2026-01-00",
                           "2026-01-15T",
                           "2026-01-15x12:30",
                           "2026-01-15T25:00",
                           "2026-01-15T12:60",
                           "2026-01-15T12:30:60",
                           "2026-01-15T12:30:45.",
                           "2026-01-15T12:30+",
                           "2026-01-15T12:30+1",
                           "2026-01-15T12:30+01:0",
                           "2026-01-15T12:30ZZ",
                           "2026-01-15T12:30 and more",
                           " 2026-01-15",
                           "2026-01-15 ",
                           "+026-01-15",
                           "2026-01--5"})
    EXPECT_EQ(parse_iso_time(text), std::nullopt) << text;
}

}  // namespace
}  // namespace sticky
