// Methods of strings that look for others, in all of the string or from one character to another.
#include <algorithm>

#include "arguments.hpp"
#include "methods.hpp"
#include "operators.hpp"
#include "unicode.hpp"

namespace sticky::chat {

namespace {

// The part of a string that a search looks at.
struct Part {
  std::string_view bytes;
  i64 first_character = 0;
  bool exists = true;  ///< not so when it would begin behind the end, or behind its own end
};

i64 border(Context& context, Arguments& arguments, std::string_view name, i64 preset, i64 size) {
  const Value value = arguments.take_or(name, {});
  if (value.is_none()) return preset;
  if (!value.is_whole())
    context.fail("the argument '{}' is {}, expected an integer", name, value.type_name());
  return std::max<i64>(value.whole() < 0 ? value.whole() + size : value.whole(), 0);
}

Part part_of(Context& context, const Value& self, Arguments& arguments) {
  const i64 size = length(context, self);
  const i64 first = border(context, arguments, "start", 0, size);
  const i64 last = std::min(border(context, arguments, "end", size, size), size);
  if (first > last) return {{}, 0, false};
  const i64 from = byte_of_character(self.bytes(), first);
  const i64 to = byte_of_character(self.bytes(), last);
  return {std::string_view(self.bytes())
              .substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)),
          first};
}

std::string_view needle(Context& context, Arguments& arguments) {
  const Value value = arguments.need(context, "sub");
  if (!value.is_string())
    context.fail("the argument 'sub' is {}, expected a string", value.type_name());
  return value.bytes();
}

// Byte of the last occurrence, -1 when there is none.
i64 find_last(Context& context, std::string_view text, std::string_view what) {
  i64 last = -1;
  for (i64 at = 0; at <= static_cast<i64>(text.size()); ++at) {
    at = find_bytes(context, text, what, at);
    if (at < 0) break;
    last = at;
  }
  return last;
}

template <bool first>
Value find(Context& context, const Value& self, Arguments& arguments) {
  const std::string_view what = needle(context, arguments);
  const Part part = part_of(context, self, arguments);
  if (!part.exists) return i64{-1};
  const i64 at =
      first ? find_bytes(context, part.bytes, what, 0) : find_last(context, part.bytes, what);
  if (at < 0) return at;
  return part.first_character +
         count_characters(part.bytes.substr(0, static_cast<std::size_t>(at)));
}

template <bool first>
Value index(Context& context, const Value& self, Arguments& arguments) {
  const Value at = find<first>(context, self, arguments);
  if (at.whole() < 0) context.fail("index: the string is not there");
  return at;
}

Value count(Context& context, const Value& self, Arguments& arguments) {
  const std::string_view what = needle(context, arguments);
  const Part part = part_of(context, self, arguments);
  if (!part.exists) return i64{0};
  if (what.empty()) return count_characters(part.bytes) + 1;
  i64 n = 0;
  for (i64 at = 0;; ++n) {
    at = find_bytes(context, part.bytes, what, at);
    if (at < 0) return n;
    at += static_cast<i64>(what.size());
  }
}

// Whether one of the affixes (a string or a tuple of them) stands at that end.
template <bool at_start>
Value has_affix(Context& context, const Value& self, Arguments& arguments) {
  const Value affix = arguments.need(context, at_start ? "prefix" : "suffix");
  const Part part = part_of(context, self, arguments);
  std::vector<Value> choices = {affix};
  if (affix.is(Kind::list) && affix.list().is_tuple()) choices = affix.list().items;
  for (const Value& choice : choices) {
    if (!choice.is_string()) context.fail("an affix is {}, expected str", choice.type_name());
    context.read_bytes(choice.text().size());
    if (part.exists &&
        (at_start ? part.bytes.starts_with(choice.bytes()) : part.bytes.ends_with(choice.bytes())))
      return true;
  }
  return false;
}

}  // namespace

std::span<const Method> search_methods() {
  static constexpr Method kMethods[] = {
      {"count", count},
      {"endswith", has_affix<false>},
      {"find", find<true>},
      {"index", index<true>},
      {"rfind", find<false>},
      {"rindex", index<false>},
      {"startswith", has_affix<true>},
  };
  return kMethods;
}

}  // namespace sticky::chat
