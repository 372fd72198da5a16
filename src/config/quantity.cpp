#include "quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sticky::config {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 5> kTimeUnits{
    {{"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}, {"d", 86400.0}}};
constexpr std::array<std::pair<std::string_view, i64>, 4> kBinaryUnits{
    {{"TiB", i64{1} << 40}, {"GiB", i64{1} << 30}, {"MiB", i64{1} << 20}, {"KiB", i64{1} << 10}}};

// Takes a decimal number (digits, perhaps a point; no sign, no exponent) from the front.
std::optional<double> take_number(std::string_view& text) {
  const auto n = text.find_first_not_of("0123456789.");
  const std::string_view digits = text.substr(0, n);
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                            std::chars_format::fixed);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  text.remove_prefix(digits.size());
  return value;
}

std::string_view take_letters(std::string_view& text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::size_t n = 0;
  while (n < text.size() && is_letter(text[n]))
    ++n;
  const std::string_view letters = text.substr(0, n);
  text.remove_prefix(n);
  return letters;
}

void skip_blanks(std::string_view& text) {
  while (text.starts_with(' '))
    text.remove_prefix(1);
}

std::optional<double> unit_seconds(std::string_view unit) {
  for (const auto& [name, seconds] : kTimeUnits) {
    if (unit == name) return seconds;
  }
  return std::nullopt;
}

std::optional<double> unit_bytes(std::string_view unit) {
  constexpr std::string_view kPrefixes = "KMGT";
  if (unit.ends_with('B')) unit.remove_suffix(1);
  if (unit.empty()) return 1.0;
  const double base = unit.ends_with('i') ? 1024.0 : 1000.0;
  if (unit.ends_with('i')) unit.remove_suffix(1);
  if (unit == "k") unit = "K";
  const auto power = unit.size() == 1 ? kPrefixes.find(unit[0]) : std::string_view::npos;
  if (power == std::string_view::npos) return std::nullopt;
  return std::pow(base, static_cast<double>(power + 1));
}

}  // namespace

std::optional<double> parse_duration(std::string_view text) {
  double sum = 0.0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    skip_blanks(text);
    const std::string_view unit = take_letters(text);
    skip_blanks(text);
    if (unit.empty()) return sum == 0.0 && text.empty() ? number : std::nullopt;
    const auto seconds = unit_seconds(unit);
    if (!seconds) return std::nullopt;
    sum += *number * *seconds;
  }
  return sum;
}

std::string format_duration(double seconds) {
  if (seconds != std::floor(seconds)) {
    return std::floor(seconds * 1e3) == seconds * 1e3 ? fmt::format("{:.0f}ms", seconds * 1e3)
                                                      : fmt::format("{}s", seconds);
  }
  if (seconds < 3600.0 || std::fmod(seconds, 60.0) != 0.0) return fmt::format("{:.0f}s", seconds);
  const double hours = std::floor(seconds / 3600.0);
  const double minutes = (seconds - hours * 3600.0) / 60.0;
  return minutes == 0.0 ? fmt::format("{:.0f}h", hours)
                        : fmt::format("{:.0f}h{:.0f}m", hours, minutes);
}

std::optional<i64> parse_size(std::string_view text) {
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  skip_blanks(text);
  const auto unit = unit_bytes(take_letters(text));
  if (!unit || !text.empty()) return std::nullopt;
  const double n_bytes = *number * *unit;
  if (n_bytes > 0x1p62) return std::nullopt;
  return static_cast<i64>(n_bytes);
}

std::string format_size(i64 n_bytes) {
  for (const auto& [name, unit] : kBinaryUnits) {
    if (n_bytes >= unit && n_bytes % unit == 0) return fmt::format("{}{}", n_bytes / unit, name);
  }
  return fmt::format("{}", n_bytes);
}

}  // namespace sticky::config
