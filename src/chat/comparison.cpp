// Equality, order and membership.
#include <algorithm>
#include <cstring>

#include "operators.hpp"

namespace sticky::chat {

namespace {

bool equal_lists(Context& context, const List& a, const List& b) {
  if (a.size() != b.size() || a.is_tuple() != b.is_tuple()) return false;
  if (a.form != b.form && !a.is_tuple()) return false;
  return std::ranges::equal(a.items, b.items,
                            [&](const Value& x, const Value& y) { return equal(context, x, y); });
}

bool equal_dicts(Context& context, const Dict& a, Dict& b) {
  if (a.size() != b.size()) return false;
  return std::ranges::all_of(a.entries, [&](const Dict::Entry& entry) {
    const Value* other = find_key(context, b, entry.first);
    return other != nullptr && equal(context, entry.second, *other);
  });
}

int sign(double a, double b) {
  return a < b ? -1 : (a > b ? 1 : 0);
}

int order_lists(Context& context, const List& a, const List& b) {
  const i64 n = std::min(a.size(), b.size());
  for (i64 i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (!equal(context, a.items[k], b.items[k])) return order(context, a.items[k], b.items[k]);
  }
  return sign(static_cast<double>(a.size()), static_cast<double>(b.size()));
}

}  // namespace

bool equal(Context& context, const Value& a, const Value& b) {
  const Deeper deeper(context);
  context.spend_steps(1);
  if (a.is_whole() && b.is_whole()) return a.whole() == b.whole();
  if (a.is_numeric() && b.is_numeric()) return a.number() == b.number();
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::undefined:
    case Kind::none:
      return true;
    case Kind::string:
      context.read_bytes(std::min(a.text().size(), b.text().size()));
      return a.bytes() == b.bytes();
    case Kind::list:
      return a.is_same_object(b) || equal_lists(context, a.list(), b.list());
    case Kind::dict:
      return a.is_same_object(b) || equal_dicts(context, a.dict(), b.dict());
    default:
      return a.is_same_object(b);
  }
}

int order(Context& context, const Value& a, const Value& b) {
  const Deeper deeper(context);
  context.spend_steps(1);
  if (a.is_whole() && b.is_whole())
    return a.whole() < b.whole() ? -1 : (a.whole() > b.whole() ? 1 : 0);
  if (a.is_numeric() && b.is_numeric()) return sign(a.number(), b.number());
  if (a.is_string() && b.is_string()) {
    context.read_bytes(std::min(a.text().size(), b.text().size()));
    return a.bytes().compare(b.bytes());  // the order of bytes is that of code points in UTF-8
  }
  if (a.is(Kind::list) && b.is(Kind::list) && a.list().is_tuple() == b.list().is_tuple())
    return order_lists(context, a.list(), b.list());
  for (const Value* v : {&a, &b}) {
    if (v->is_undefined()) context.fail("{}", v->undefined().why);
  }
  context.fail("{} and {} have no order", a.type_name(), b.type_name());
}

i64 find_bytes(Context& context, std::string_view text, std::string_view what, i64 from) {
  const auto start = static_cast<std::size_t>(from);
  if (start > text.size()) return -1;
  const std::string_view rest = text.substr(start);
  // memmem, since std::string::find takes time n × m on hostile texts.
  const void* found = memmem(rest.data(), rest.size(), what.data(), what.size());
  const i64 at =
      found == nullptr ? -1 : static_cast<i64>(static_cast<const char*>(found) - text.data());
  context.read_bytes(at < 0 ? static_cast<i64>(rest.size()) : at - from);
  return at;
}

bool contains(Context& context, const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::string:
      if (item.is_undefined()) context.fail("{}", item.undefined().why);
      if (!item.is_string())
        context.fail("only a string can be in a string, not a value of type {}", item.type_name());
      return find_bytes(context, container.bytes(), item.bytes(), 0) >= 0;
    case Kind::dict:
      return find_key(context, container.dict(), item) != nullptr;
    default:
      break;
  }
  for (const Value& element : elements(context, container)) {
    if (equal(context, element, item)) return true;
  }
  return false;
}

bool compare(Context& context, CompareOp op, const Value& a, const Value& b) {
  switch (op) {
    case CompareOp::eq:
      return equal(context, a, b);
    case CompareOp::ne:
      return !equal(context, a, b);
    case CompareOp::lt:
      return order(context, a, b) < 0;
    case CompareOp::le:
      return order(context, a, b) <= 0;
    case CompareOp::gt:
      return order(context, a, b) > 0;
    case CompareOp::ge:
      return order(context, a, b) >= 0;
    case CompareOp::in:
      return contains(context, b, a);
    case CompareOp::not_in:
      break;
  }
  return !contains(context, b, a);
}

}  // namespace sticky::chat
