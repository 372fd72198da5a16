#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "arguments.hpp"
#include "filters.hpp"
#include "operators.hpp"
#include "repr.hpp"
#include "unicode.hpp"

namespace sticky::chat {

namespace {

constexpr double kWholeLimit = 9.2e18;  // below it a double fits 64 bits

Value absolute(Context& context, const Value& input, Arguments&) {
  if (!input.is_numeric()) context.fail("abs: found {}, expected a number", input.type_name());
  if (!input.is_whole()) return std::fabs(input.number());
  return input.whole() < 0 ? negated(context, input) : Value(input.whole());
}

// Python's int(text, base) and float(text) allow white space around, a sign, and _ between digits.
std::string number_text(std::string_view text) {
  const i64 first = skip_space(text, 0);
  const i64 end = end_without_space(text, first);
  std::string out(
      text.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first)));
  for (std::size_t i = 1; i + 1 < out.size(); ++i) {
    const auto is_digit = [&](std::size_t k) {
      return std::string_view("0123456789abcdefABCDEF").find(out[k]) != std::string_view::npos;
    };
    if (out[i] == '_' && is_digit(i - 1) && is_digit(i + 1)) out.erase(i, 1);
  }
  if (out.starts_with('+') && !out.starts_with("+-")) out.erase(0, 1);
  return out;
}

std::optional<double> read_double(std::string_view text) {
  const std::string digits = number_text(text);
  double value = 0.0;
  const char* end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, value);
  if (result.ptr != end || digits.empty()) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range) return std::strtod(digits.c_str(), nullptr);
  return value;
}

std::optional<i64> read_whole(const Context& context, std::string_view text, i64 base) {
  std::string digits = number_text(text);
  const auto sign = digits.starts_with('-') ? std::size_t{1} : std::size_t{0};
  const std::string prefix = digits.substr(sign, 2);
  const bool has_prefix = (base == 16 && (prefix == "0x" || prefix == "0X")) ||
                          (base == 8 && (prefix == "0o" || prefix == "0O")) ||
                          (base == 2 && (prefix == "0b" || prefix == "0B"));
  if (has_prefix) digits.erase(sign, 2);
  i64 value = 0;
  const char* end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, value, static_cast<int>(base));
  if (result.ptr != end || digits.empty()) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range) context.fail("int: {} has over 64 bits", digits);
  return value;
}

Value whole_part(const Context& context, double value, const Value& preset) {
  if (std::isnan(value) || std::isinf(value)) return preset;
  if (std::fabs(value) >= kWholeLimit) context.fail("int: {} has over 64 bits", value);
  return static_cast<i64>(value);
}

Value to_int(Context& context, const Value& input, Arguments& arguments) {
  const Value preset = arguments.take_or("default", i64{0});
  const i64 base = arguments.take_integer(context, "base", 10);
  if (base < 2 || base > 36) context.fail("int: the base {} is not in 2 … 36", base);
  if (input.is_undefined()) context.fail("{}", input.undefined().why);
  if (input.is_whole()) return input.whole();
  if (input.is(Kind::number)) return whole_part(context, input.number(), preset);
  if (!input.is_string()) return preset;
  context.read_bytes(input.text().size());
  if (const auto whole = read_whole(context, input.bytes(), base)) return *whole;
  const auto number = read_double(input.bytes());
  return number ? whole_part(context, *number, preset) : preset;
}

Value to_float(Context& context, const Value& input, Arguments& arguments) {
  const Value preset = arguments.take_or("default", 0.0);
  if (input.is_undefined()) context.fail("{}", input.undefined().why);
  if (input.is_numeric()) return input.number();
  if (!input.is_string()) return preset;
  context.read_bytes(input.text().size());
  const auto number = read_double(input.bytes());
  return number ? Value(*number) : preset;
}

// Python's round(value, n): half of the last place, by the exact binary value, goes to even.
double rounded(double value, i64 n_places) {
  if (std::isnan(value) || std::isinf(value) || n_places > 300) return value;
  if (n_places < 0) {
    const double unit = std::pow(10.0, static_cast<double>(std::min<i64>(-n_places, 400)));
    return std::isinf(unit) ? 0.0 * value : std::nearbyint(value / unit) * unit;
  }
  char digits[700];
  std::snprintf(digits, sizeof digits, "%.*f", static_cast<int>(n_places), value);
  return std::strtod(digits, nullptr);
}

Value round_number(Context& context, const Value& input, Arguments& arguments) {
  const i64 n_places = arguments.take_integer(context, "precision", 0);
  const Value method = arguments.take_or("method", {});
  if (!input.is_numeric()) context.fail("round: found {}, expected a number", input.type_name());
  const std::string name = method.is_none() ? "common" : text_of(context, method).bytes();
  if (name == "common") {
    if (input.is_whole() && n_places >= 0) return input.whole();
    const double value = rounded(input.number(), n_places);
    return input.is_whole() ? whole_part(context, value, i64{0}) : Value(value);
  }
  if (name != "ceil" && name != "floor")
    context.fail("round: the method is '{}', expected common, ceil or floor", name);
  const double unit = std::pow(10.0, static_cast<double>(std::clamp<i64>(n_places, -400, 400)));
  const double scaled = input.number() * unit;
  return (name == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / unit;
}

}  // namespace

std::span<const Filter> number_filters() {
  static constexpr Filter kFilters[] = {
      {"abs", absolute},
      {"float", to_float},
      {"int", to_int},
      {"round", round_number},
  };
  return kFilters;
}

}  // namespace sticky::chat
