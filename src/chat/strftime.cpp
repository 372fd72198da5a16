#include <chrono>
#include <clocale>
#include <ctime>
#include <locale.h>

#include "sticky/base/iso_time.hpp"

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

Moment parse(const Context& context, const std::string& iso) {
  const auto time = parse_iso_time(iso);
  if (!time) context.fail("the time '{}' is no ISO 8601 date or date and time", iso);
  Moment moment{.calendar = {}, .microseconds = time->microsecond};
  std::tm& c = moment.calendar;
  c.tm_year = time->year - 1900;
  c.tm_mon = time->month - 1;
  c.tm_mday = time->day;
  c.tm_hour = time->hour;
  c.tm_min = time->minute;
  c.tm_sec = time->second;
  (void)timegm(&c);  // fills in the day of the week and of the year
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
