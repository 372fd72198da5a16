#include <chrono>
#include <clocale>
#include <cstdio>
#include <ctime>
#include <locale.h>

#include "functions.hpp"

namespace sticky::chat {

namespace {

struct Moment {
  std::tm calendar{};
  int microseconds = 0;
};

Moment present() {
  const auto now = std::chrono::system_clock::now();
  const auto whole = std::chrono::time_point_cast<std::chrono::seconds>(now);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
  Moment moment;
  localtime_r(&seconds, &moment.calendar);
  moment.microseconds =
      static_cast<int>(std::chrono::duration_cast<std::chrono::microseconds>(now - whole).count());
  return moment;
}

// "2025-01-15", "2025-01-15T12:30", "2025-01-15 12:30:45.5+01:00".
Moment parse(const Context& context, const std::string& iso) {
  Moment moment;
  std::tm& c = moment.calendar;
  char between = 'T';
  double fraction = 0.0;
  const int n = std::sscanf(iso.c_str(), "%4d-%2d-%2d%c%2d:%2d:%2d%lf", &c.tm_year, &c.tm_mon,
                            &c.tm_mday, &between, &c.tm_hour, &c.tm_min, &c.tm_sec, &fraction);
  const std::tm read = c;
  c.tm_year -= 1900;
  c.tm_mon -= 1;
  const bool is_form = n >= 3 && n != 4 && n != 5 && (between == 'T' || between == ' ');
  // timegm fills in the day of the week and year, and moves dates that do not exist.
  const bool is_date = is_form && timegm(&c) != -1 && c.tm_mday == read.tm_mday &&
                       c.tm_mon + 1 == read.tm_mon && c.tm_hour == read.tm_hour &&
                       c.tm_min == read.tm_min && c.tm_sec == read.tm_sec;
  if (!is_date) context.fail("the time '{}' is no ISO 8601 date or date and time", iso);
  if (n == 8 && fraction > 0.0 && fraction < 1.0)
    moment.microseconds = static_cast<int>(fraction * 1e6 + 0.5);
  return moment;
}

std::string with_microseconds(std::string_view format, int microseconds) {
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char next = format[i] == '%' && i + 1 < format.size() ? format[++i] : '\0';
    if (next == 'f') {
      out += fmt::format("{:06}", microseconds);
    } else if (next == '\0') {
      out += format[i];
    } else if (next != 'z' && next != 'Z') {
      out += {'%', next};
    }
  }
  return out;
}

}  // namespace

std::string format_time(const Context& context, const std::string& now, std::string_view format) {
  constexpr std::size_t kMaxBytes = 4096;
  const Moment moment = now.empty() ? present() : parse(context, now);
  // A mark in front tells an empty result from one that did not fit.
  const std::string marked = "." + with_microseconds(format, moment.microseconds);
  const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  std::string out(kMaxBytes, '\0');
  const auto n = strftime_l(out.data(), out.size(), marked.c_str(), &moment.calendar, c_locale);
  freelocale(c_locale);
  if (n == 0) context.fail("strftime_now: the text is longer than {} bytes", kMaxBytes - 2);
  return out.substr(1, n - 1);
}

}  // namespace sticky::chat
