#include "sticky/base/iso_time.hpp"

#include <chrono>

namespace sticky {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Takes parts of the form from the front of a text; after the first that is missing it takes none.
class Parts {
 public:
  explicit Parts(std::string_view text) : left_(text) {}

  [[nodiscard]] bool is_good() const { return is_good_; }
  [[nodiscard]] bool is_over() const { return left_.empty(); }

  int number(std::size_t n_digits, int most) {
    int value = 0;
    if (left_.size() < n_digits) is_good_ = false;
    for (std::size_t i = 0; i < n_digits && is_good_; ++i) {
      is_good_ = is_digit(left_[i]);
      value = value * 10 + (left_[i] - '0');
    }
    if (is_good_) left_.remove_prefix(n_digits);
    is_good_ = is_good_ && value <= most;
    return value;
  }
  bool try_take(char c) {
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    return true;
  }
  void take(char c) { is_good_ = try_take(c) && is_good_; }
  /// Digits behind a point, the first six of them.
  int microseconds() {
    int value = 0;
    int unit = 100'000;
    is_good_ = is_good_ && !left_.empty() && is_digit(left_[0]);
    for (; !left_.empty() && is_digit(left_[0]); left_.remove_prefix(1), unit /= 10)
      value += (left_[0] - '0') * unit;
    return value;
  }

 private:
  std::string_view left_;
  bool is_good_ = true;
};

void read_time_of_day(Parts& parts, CalendarTime& time) {
  time.hour = parts.number(2, 23);
  parts.take(':');
  time.minute = parts.number(2, 59);
  if (parts.try_take(':')) {
    time.second = parts.number(2, 59);
    if (parts.try_take('.')) time.microsecond = parts.microseconds();
  }
  if (parts.is_over() || parts.try_take('Z')) return;
  if (!parts.try_take('+')) parts.take('-');
  (void)parts.number(2, 23);
  if (parts.is_over()) return;
  (void)parts.try_take(':');
  (void)parts.number(2, 59);
}

}  // namespace

std::optional<CalendarTime> parse_iso_time(std::string_view text) {
  Parts parts(text);
  CalendarTime time;
  time.year = parts.number(4, 9999);
  parts.take('-');
  time.month = parts.number(2, 12);
  parts.take('-');
  time.day = parts.number(2, 31);
  if (!parts.is_over()) {
    if (!parts.try_take(' ')) parts.take('T');
    read_time_of_day(parts, time);
  }
  const std::chrono::year_month_day date(std::chrono::year(time.year),
                                         std::chrono::month(static_cast<unsigned>(time.month)),
                                         std::chrono::day(static_cast<unsigned>(time.day)));
  if (!parts.is_good() || !parts.is_over() || !date.ok()) return std::nullopt;
  return time;
}

}  // namespace sticky
