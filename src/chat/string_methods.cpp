#include <algorithm>

#include "sticky/base/utf8.hpp"

#include "arguments.hpp"
#include "format.hpp"
#include "methods.hpp"
#include "operators.hpp"
#include "text_functions.hpp"
#include "unicode.hpp"

namespace sticky::chat {

namespace {

const Text& need_text(const Context& context, Arguments& arguments, std::string_view name) {
  const Value value = arguments.need(context, name);
  if (!value.is_string())
    context.fail("the argument '{}' is {}, expected a string", name, value.type_name());
  return value.text();
}

template <Case which>
Value change_case(Context& context, const Value& self, Arguments&) {
  return context.make_text(in_case(context, self.text(), which));
}

template <Side side>
Value strip(Context& context, const Value& self, Arguments& arguments) {
  const Value set = arguments.take_or("chars", {});
  if (set.is_none()) return context.make_text(stripped(context, self.text(), side, {}));
  if (!set.is_string()) context.fail("strip: found {}, expected a string", set.type_name());
  if (set.bytes().empty()) return self;  // no characters to strip
  return context.make_text(stripped(context, self.text(), side, set.bytes()));
}

Value split(Context& context, const Value& self, Arguments& arguments) {
  const Value separator = arguments.take_or("sep", {});
  const i64 n_most = arguments.take_integer(context, "maxsplit", -1);
  if (separator.is_none())
    return context.make_list(List::Form::list, split_at_space(context, self.text(), n_most));
  if (!separator.is_string()) context.fail("split: the separator is no string");
  return context.make_list(List::Form::list,
                           split_at(context, self.text(), separator.bytes(), n_most));
}

Value rsplit(Context& context, const Value& self, Arguments& arguments) {
  const Value separator = arguments.take_or("sep", {});
  const i64 n_most = arguments.take_integer(context, "maxsplit", -1);
  if (separator.is_none() && n_most < 0)
    return context.make_list(List::Form::list, split_at_space(context, self.text(), -1));
  if (!separator.is_string()) context.fail("rsplit: expected a separator");
  return context.make_list(
      List::Form::list, n_most < 0
                            ? split_at(context, self.text(), separator.bytes(), -1)
                            : split_at_from_right(context, self.text(), separator.bytes(), n_most));
}

Value splitlines(Context& context, const Value& self, Arguments& arguments) {
  const bool keep_ends = arguments.take_flag("keepends", false);
  return context.make_list(List::Form::list, split_lines(context, self.text(), keep_ends));
}

Value partition(Context& context, const Value& self, Arguments& arguments) {
  const Text& separator = need_text(context, arguments, "sep");
  auto pieces = split_at(context, self.text(), separator.bytes(), 1);
  const bool is_found = pieces.size() == 2;
  const Value middle = context.make_text(is_found ? separator : Text());
  const Value tail = is_found ? pieces[1] : context.make_text(Text());
  return context.make_list(List::Form::tuple, {pieces[0], middle, tail});
}

// Whether one of the affixes (a string or a tuple of them) stands at that end.
template <bool at_start>
Value has_affix(Context& context, const Value& self, Arguments& arguments) {
  const Value affix = arguments.need(context, at_start ? "prefix" : "suffix");
  std::vector<Value> choices = {affix};
  if (affix.is(Kind::list) && affix.list().is_tuple()) choices = affix.list().items;
  for (const Value& choice : choices) {
    if (!choice.is_string()) context.fail("an affix is {}, expected str", choice.type_name());
    context.read_bytes(choice.text().size());
    if (at_start ? self.bytes().starts_with(choice.bytes())
                 : self.bytes().ends_with(choice.bytes()))
      return true;
  }
  return false;
}

template <bool at_start>
Value remove_affix(Context& context, const Value& self, Arguments& arguments) {
  const Text& affix = need_text(context, arguments, "affix");
  const bool has_it =
      at_start ? self.bytes().starts_with(affix.bytes()) : self.bytes().ends_with(affix.bytes());
  if (!has_it) return self;
  return context.make_text(
      self.text().slice(at_start ? affix.size() : 0, self.text().size() - affix.size()));
}

Value replace(Context& context, const Value& self, Arguments& arguments) {
  const Text& from = need_text(context, arguments, "old");
  const Text& to = need_text(context, arguments, "new");
  const i64 n_most = arguments.take_integer(context, "count", -1);
  return context.make_text(replaced(context, self.text(), from, to, n_most));
}

// Character number of the first occurrence, -1 when there is none.
i64 find_character(Context& context, const Value& self, Arguments& arguments) {
  const Text& what = need_text(context, arguments, "sub");
  const i64 size = length(context, self);
  i64 from = arguments.take_integer(context, "start", 0);
  if (from < 0) from = std::max<i64>(from + size, 0);
  if (from > size) return -1;
  const i64 at =
      find_bytes(context, self.bytes(), what.bytes(), byte_of_character(self.bytes(), from));
  return at < 0 ? -1
                : count_characters(
                      std::string_view(self.bytes()).substr(0, static_cast<std::size_t>(at)));
}

Value find(Context& context, const Value& self, Arguments& arguments) {
  return find_character(context, self, arguments);
}

Value rfind(Context& context, const Value& self, Arguments& arguments) {
  const Text& what = need_text(context, arguments, "sub");
  i64 last = -1;
  for (i64 at = 0; at <= self.text().size(); ++at) {
    at = find_bytes(context, self.bytes(), what.bytes(), at);
    if (at < 0) break;
    last = at;
  }
  if (last < 0) return last;
  return count_characters(std::string_view(self.bytes()).substr(0, static_cast<std::size_t>(last)));
}

Value index(Context& context, const Value& self, Arguments& arguments) {
  const i64 at = find_character(context, self, arguments);
  if (at < 0) context.fail("index: the string is not there");
  return at;
}

Value count(Context& context, const Value& self, Arguments& arguments) {
  const Text& what = need_text(context, arguments, "sub");
  if (what.size() == 0) return length(context, self) + 1;
  i64 n = 0;
  for (i64 at = 0;; ++n) {
    at = find_bytes(context, self.bytes(), what.bytes(), at);
    if (at < 0) return n;
    at += what.size();
  }
}

Value join_items(Context& context, const Value& self, Arguments& arguments) {
  const auto items = elements(context, arguments.need(context, "iterable"));
  for (const Value& item : items) {
    if (!item.is_string()) context.fail("join: found {}, expected str", item.type_name());
  }
  return join(context, self.text(), items);
}

Value format(Context& context, const Value& self, Arguments& arguments) {
  return format_braces(context, self.text(), arguments);
}

// Python's is… methods: there is a character, and all pass.
template <bool (*passes)(char32_t)>
Value all_characters(Context& context, const Value& self, Arguments&) {
  context.read_bytes(self.text().size());
  for (i64 at = 0; at < self.text().size();) {
    const auto c = utf8::decode(self.bytes(), at);
    if (!passes(c.code_point)) return false;
    at += c.n_bytes;
  }
  return self.text().size() > 0;
}

bool is_ascii_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}

// Python's isupper and islower: some letter of that case and none of the other.
template <bool wants_upper>
Value is_in_case(Context& context, const Value& self, Arguments&) {
  context.read_bytes(self.text().size());
  bool has_wanted = false;
  for (i64 at = 0; at < self.text().size();) {
    const auto c = utf8::decode(self.bytes(), at);
    if (wants_upper ? is_lower(c.code_point) : is_upper(c.code_point)) return false;
    has_wanted = has_wanted || (wants_upper ? is_upper(c.code_point) : is_lower(c.code_point));
    at += c.n_bytes;
  }
  return has_wanted;
}

}  // namespace

std::span<const Method> string_methods() {
  static constexpr Method kMethods[] = {
      {"capitalize", change_case<Case::capitalized>},
      {"count", count},
      {"endswith", has_affix<false>},
      {"find", find},
      {"format", format},
      {"index", index},
      {"isdigit", all_characters<is_ascii_digit>},
      {"islower", is_in_case<false>},
      {"isspace", all_characters<is_space>},
      {"isupper", is_in_case<true>},
      {"join", join_items},
      {"lower", change_case<Case::lower>},
      {"lstrip", strip<Side::left>},
      {"partition", partition},
      {"removeprefix", remove_affix<true>},
      {"removesuffix", remove_affix<false>},
      {"replace", replace},
      {"rfind", rfind},
      {"rsplit", rsplit},
      {"rstrip", strip<Side::right>},
      {"split", split},
      {"splitlines", splitlines},
      {"startswith", has_affix<true>},
      {"strip", strip<Side::both>},
      {"title", change_case<Case::title>},
      {"upper", change_case<Case::upper>},
  };
  return kMethods;
}

}  // namespace sticky::chat
