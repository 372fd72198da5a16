// What stands behind "is". Source: Jinja2 3.1, tests.py.
#include "arguments.hpp"
#include "filters.hpp"
#include "operators.hpp"
#include "repr.hpp"
#include "text_functions.hpp"

namespace sticky::chat {

namespace {

template <Kind kind>
bool is_kind(Context&, const Value& v, Arguments&) {
  return v.is(kind);
}

bool is_defined(Context&, const Value& v, Arguments&) {
  return !v.is_undefined();
}
bool is_true(Context&, const Value& v, Arguments&) {
  return v.is(Kind::boolean) && v.boolean();
}
bool is_false(Context&, const Value& v, Arguments&) {
  return v.is(Kind::boolean) && !v.boolean();
}
bool is_number(Context&, const Value& v, Arguments&) {
  return v.is_numeric();
}
bool is_integer(Context&, const Value& v, Arguments&) {
  return v.is(Kind::integer) || v.digits() != nullptr;
}
bool is_float(Context&, const Value& v, Arguments&) {
  return v.is(Kind::number) && v.digits() == nullptr;
}
bool can_iterate(Context&, const Value& v, Arguments&) {
  return is_iterable(v);
}
bool is_callable(Context&, const Value& v, Arguments&) {
  return v.is_undefined() || (v.is(Kind::object) && v.object().is_callable());
}
bool is_escaped(Context&, const Value&, Arguments&) {
  return false;
}

bool is_sequence(Context&, const Value& v, Arguments&) {
  return v.is_string() || v.is(Kind::dict) || v.is_undefined() ||
         (v.is(Kind::list) && v.list().has_elements());
}

double remainder(Context& context, const Value& v, const Value& by) {
  if (!v.is_numeric() || !by.is_numeric())
    context.fail("found {}, expected a number", v.is_numeric() ? by.type_name() : v.type_name());
  return binary(context, BinaryOp::modulo, v, by).number();
}
bool is_even(Context& context, const Value& v, Arguments&) {
  return remainder(context, v, i64{2}) == 0;
}
bool is_odd(Context& context, const Value& v, Arguments&) {
  return remainder(context, v, i64{2}) == 1;
}
bool is_divisible(Context& context, const Value& v, Arguments& arguments) {
  return remainder(context, v, arguments.need(context, "num")) == 0;
}

template <CompareOp op>
bool compares(Context& context, const Value& v, Arguments& arguments) {
  return compare(context, op, v, arguments.need(context, "other"));
}

bool is_same(Context& context, const Value& v, Arguments& arguments) {
  return v.is_same_object(arguments.need(context, "other"));
}

template <bool wants_upper>
bool is_case(Context& context, const Value& v, Arguments&) {
  const Text& text = text_of(context, v);
  const Text upper = in_case(context, text, Case::upper);
  const Text lower = in_case(context, text, Case::lower);
  const Text& wanted = wants_upper ? upper : lower;
  return upper.bytes() != lower.bytes() && text.bytes() == wanted.bytes();
}

bool is_filter(Context&, const Value& v, Arguments&) {
  return v.is_string() && find_filter(v.bytes()) != nullptr;
}
bool is_test(Context&, const Value& v, Arguments&) {
  return v.is_string() && find_test(v.bytes()) != nullptr;
}

constexpr ValueTest kTests[] = {
    {"boolean", is_kind<Kind::boolean>},
    {"callable", is_callable},
    {"defined", is_defined},
    {"divisibleby", is_divisible},
    {"eq", compares<CompareOp::eq>},
    {"equalto", compares<CompareOp::eq>},
    {"escaped", is_escaped},
    {"even", is_even},
    {"false", is_false},
    {"filter", is_filter},
    {"float", is_float},
    {"ge", compares<CompareOp::ge>},
    {"greaterthan", compares<CompareOp::gt>},
    {"gt", compares<CompareOp::gt>},
    {"in", compares<CompareOp::in>},
    {"integer", is_integer},
    {"iterable", can_iterate},
    {"le", compares<CompareOp::le>},
    {"lessthan", compares<CompareOp::lt>},
    {"lower", is_case<false>},
    {"lt", compares<CompareOp::lt>},
    {"mapping", is_kind<Kind::dict>},
    {"ne", compares<CompareOp::ne>},
    {"none", is_kind<Kind::none>},
    {"number", is_number},
    {"odd", is_odd},
    {"sameas", is_same},
    {"sequence", is_sequence},
    {"string", is_kind<Kind::string>},
    {"test", is_test},
    {"true", is_true},
    {"undefined", is_kind<Kind::undefined>},
    {"upper", is_case<true>},
    // For select and its kin, where a test is named by a string.
    {"==", compares<CompareOp::eq>},
    {"!=", compares<CompareOp::ne>},
    {"<", compares<CompareOp::lt>},
    {"<=", compares<CompareOp::le>},
    {">", compares<CompareOp::gt>},
    {">=", compares<CompareOp::ge>},
};

}  // namespace

const ValueTest* find_test(std::string_view name) {
  for (const ValueTest& test : kTests) {
    if (test.name == name) return &test;
  }
  return nullptr;
}

bool apply_test(Context& context, const ValueTest& test, const Value& input, Arguments& arguments) {
  context.spend_steps(1);
  const bool holds = test.holds(context, input, arguments);
  arguments.check_all_taken(context, test.name);
  return holds;
}

}  // namespace sticky::chat
