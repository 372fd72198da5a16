#include "operators.hpp"

#include <cmath>
#include <compare>

#include "format.hpp"
#include "repr.hpp"

namespace sticky::chat {

namespace {

std::string_view symbol(BinaryOp op) {
  switch (op) {
    case BinaryOp::add:
      return "+";
    case BinaryOp::subtract:
      return "-";
    case BinaryOp::multiply:
      return "*";
    case BinaryOp::divide:
      return "/";
    case BinaryOp::floor_divide:
      return "//";
    case BinaryOp::modulo:
      return "%";
    case BinaryOp::power:
      break;
  }
  return "**";
}

void expect_defined(const Context& context, const Value& value) {
  if (value.is_undefined()) context.fail("{}", value.undefined().why);
}

[[noreturn]] void fail_operands(const Context& context,
                                BinaryOp op,
                                const Value& a,
                                const Value& b) {
  if (op == BinaryOp::add && (a.is_string() || b.is_string())) {
    const Value& other = a.is_string() ? b : a;
    context.fail("only a string can be added to a string, not a value of type {}",
                 other.type_name());
  }
  context.fail("'{}' is not possible between {} and {}", symbol(op), a.type_name(), b.type_name());
}

i64 floor_quotient(i64 a, i64 b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

double floor_modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0.0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

bool whole_power(i64 base, i64 exponent, i64& result) {
  result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return false;
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return false;
  }
  return true;
}

Value whole_binary(Context& context, BinaryOp op, i64 a, i64 b) {
  i64 result = 0;
  bool fits = true;
  if (b == 0 && (op == BinaryOp::divide || op == BinaryOp::floor_divide || op == BinaryOp::modulo))
    context.fail("division by zero");
  switch (op) {
    case BinaryOp::add:
      fits = !__builtin_add_overflow(a, b, &result);
      break;
    case BinaryOp::subtract:
      fits = !__builtin_sub_overflow(a, b, &result);
      break;
    case BinaryOp::multiply:
      fits = !__builtin_mul_overflow(a, b, &result);
      break;
    case BinaryOp::divide:
      return static_cast<double>(a) / static_cast<double>(b);
    case BinaryOp::floor_divide:
      fits = b != -1 || !__builtin_sub_overflow(i64{0}, a, &result);
      if (b != -1) result = floor_quotient(a, b);
      break;
    case BinaryOp::modulo:
      return b == -1 ? i64{0} : a - b * floor_quotient(a, b);
    case BinaryOp::power:
      if (b < 0) return std::pow(static_cast<double>(a), static_cast<double>(b));
      fits = whole_power(a, b, result);
      break;
  }
  if (!fits) context.fail("{} {} {} does not fit 64 bits", a, symbol(op), b);
  return result;
}

Value number_binary(Context& context, BinaryOp op, double a, double b) {
  if (b == 0.0 &&
      (op == BinaryOp::divide || op == BinaryOp::floor_divide || op == BinaryOp::modulo))
    context.fail("division by zero");
  switch (op) {
    case BinaryOp::add:
      return a + b;
    case BinaryOp::subtract:
      return a - b;
    case BinaryOp::multiply:
      return a * b;
    case BinaryOp::divide:
      return a / b;
    case BinaryOp::floor_divide:
      return std::floor((a - floor_modulo(a, b)) / b);
    case BinaryOp::modulo:
      return floor_modulo(a, b);
    case BinaryOp::power:
      break;
  }
  return std::pow(a, b);
}

Value repeated(Context& context, const Value& value, i64 n) {
  n = std::max<i64>(n, 0);
  if (value.is_string()) {
    context.spend_elements(n, value.text().weight());
    context.spend_steps(n);
    Text out;
    for (i64 i = 0; i < n; ++i)
      out.append(value.text());
    return context.make_text(std::move(out));
  }
  const List& list = value.list();
  context.spend_elements(n, list.size() * static_cast<i64>(sizeof(Value)));
  context.spend_steps(n);
  std::vector<Value> items;
  for (i64 i = 0; i < n; ++i)
    items.insert(items.end(), list.items.begin(), list.items.end());
  return context.make_list(list.form, std::move(items));
}

bool is_repeatable(const Value& v) {
  return v.is_string() ||
         (v.is(Kind::list) && (v.list().form == List::Form::list || v.list().is_tuple()));
}

bool can_join(const Value& a, const Value& b) {
  if (!a.is(Kind::list) || !b.is(Kind::list) || !is_repeatable(a) || !is_repeatable(b))
    return false;
  return a.list().is_tuple() == b.list().is_tuple();
}

Value joined(Context& context, const Value& a, const Value& b) {
  std::vector<Value> items = a.list().items;
  items.insert(items.end(), b.list().items.begin(), b.list().items.end());
  return context.make_list(a.list().is_tuple() ? List::Form::tuple : List::Form::list,
                           std::move(items));
}

}  // namespace

Value binary(Context& context, BinaryOp op, const Value& a, const Value& b) {
  expect_defined(context, a);
  if (op == BinaryOp::modulo && a.is_string()) return format_percent(context, a.text(), b);
  expect_defined(context, b);
  if (a.is_whole() && b.is_whole()) return whole_binary(context, op, a.whole(), b.whole());
  if (a.is_numeric() && b.is_numeric()) return number_binary(context, op, a.number(), b.number());
  if (op == BinaryOp::add && a.is_string() && b.is_string()) {
    Text sum;
    context.append(sum, a.text());
    context.append(sum, b.text());
    return context.make_text(std::move(sum));
  }
  if (op == BinaryOp::add && can_join(a, b)) return joined(context, a, b);
  if (op == BinaryOp::multiply && is_repeatable(a) && b.is_whole())
    return repeated(context, a, b.whole());
  if (op == BinaryOp::multiply && is_repeatable(b) && a.is_whole())
    return repeated(context, b, a.whole());
  fail_operands(context, op, a, b);
}

Value negated(Context& context, const Value& value) {
  expect_defined(context, value);
  if (value.is_whole()) return whole_binary(context, BinaryOp::subtract, 0, value.whole());
  if (!value.is(Kind::number)) context.fail("a value of type {} has no sign", value.type_name());
  return -value.number();
}

}  // namespace sticky::chat
