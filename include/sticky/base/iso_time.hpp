#pragma once

#include <optional>
#include <string_view>

namespace sticky {

/// A day and a time of it, of no time zone.
struct CalendarTime {
  int year = 0;
  int month = 0;  ///< from 1
  int day = 0;    ///< from 1
  int hour = 0;
  int minute = 0;
  int second = 0;
  int microsecond = 0;
  bool operator==(const CalendarTime&) const = default;
};

/// ISO 8601, extended form: "2026-01-15", "2026-01-15T12:30", "2026-01-15 12:30:45.5+01:00". An
/// offset ("Z", "+01", "+01:00", "+0100") is checked and left out. Nothing for any other form and
/// for dates and times that do not exist.
[[nodiscard]] std::optional<CalendarTime> parse_iso_time(std::string_view text);

}  // namespace sticky
