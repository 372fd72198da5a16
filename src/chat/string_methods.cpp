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
  if (separator.is_none()) {
    auto pieces = split_at_space(context, self.text(), -1);
    if (n_most < 0 || std::ssize(pieces) <= n_most)
      return context.make_list(List::Form::list, std::move(pieces));
    // The first of them reaches from its own beginning to that of the last n_most.
    const i64 n_joined = std::ssize(pieces) - n_most;
    const i64 first = skip_space(self.bytes(), 0);
    i64 end = end_without_space(self.bytes(), first);
    for (i64 i = 0; i < n_most; ++i) {
      end -= pieces[pieces.size() - 1 - static_cast<std::size_t>(i)].text().size();
      end = end_without_space(
          std::string_view(self.bytes()).substr(0, static_cast<std::size_t>(end)), first);
    }
    pieces.erase(pieces.begin(), pieces.begin() + n_joined);
    pieces.insert(pieces.begin(), context.make_text(self.text().slice(first, end - first)));
    return context.make_list(List::Form::list, std::move(pieces));
  }
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

// With the separator last found in the text instead of first, at the right.
template <bool from_right>
Value partition(Context& context, const Value& self, Arguments& arguments) {
  const Text& separator = need_text(context, arguments, "sep");
  const auto pieces = from_right ? split_at_from_right(context, self.text(), separator.bytes(), 1)
                                 : split_at(context, self.text(), separator.bytes(), 1);
  const Value none = context.make_text(Text());
  if (pieces.size() < 2) {
    return context.make_list(List::Form::tuple, from_right ? std::vector{none, none, self}
                                                           : std::vector{self, none, none});
  }
  return context.make_list(List::Form::tuple, {pieces[0], context.make_text(separator), pieces[1]});
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

Value join_items(Context& context, const Value& self, Arguments& arguments) {
  const auto items = elements(context, arguments.need(context, "iterable"));
  for (const Value& item : items) {
    if (!item.is_string()) context.fail("join: found {}, expected str", item.type_name());
  }
  return join(context, self.text(), items);
}

// Where the text stands among what fills it up to the width.
template <Side side>
Value padded(Context& context, const Value& self, Arguments& arguments) {
  const i64 width = arguments.take_integer(context, "width", 0);
  const Value fill = arguments.take_or("fillchar", context.make_text(Text(" ")));
  if (!fill.is_string() || count_characters(fill.bytes()) != 1)
    context.fail("the fill character must be exactly one character long");
  const i64 missing = std::max<i64>(width - length(context, self), 0);
  context.spend_elements(missing, fill.text().weight());
  // CPython's rule for the odd one of center().
  const i64 left = side == Side::left    ? 0
                   : side == Side::right ? missing
                                         : missing / 2 + (missing & width & 1);
  Text out;
  for (i64 i = 0; i < left; ++i)
    out.append(fill.text());
  context.append(out, self.text());
  for (i64 i = left; i < missing; ++i)
    out.append(fill.text());
  return context.make_text(std::move(out));
}

Value zfill(Context& context, const Value& self, Arguments& arguments) {
  const i64 missing =
      std::max<i64>(arguments.take_integer(context, "width", 0) - length(context, self), 0);
  context.spend_elements(missing, 1);
  const bool has_sign = self.bytes().starts_with('-') || self.bytes().starts_with('+');
  Text out;
  context.append(out, self.text().slice(0, has_sign ? 1 : 0));
  out.append(std::string(static_cast<std::size_t>(missing), '0'));
  context.append(out, self.text().slice(has_sign ? 1 : 0, self.text().size() - (has_sign ? 1 : 0)));
  return context.make_text(std::move(out));
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
      {"center", padded<Side::both>},
      {"format", format},
      {"isdigit", all_characters<is_ascii_digit>},
      {"islower", is_in_case<false>},
      {"isspace", all_characters<is_space>},
      {"isupper", is_in_case<true>},
      {"join", join_items},
      {"ljust", padded<Side::left>},
      {"lower", change_case<Case::lower>},
      {"lstrip", strip<Side::left>},
      {"partition", partition<false>},
      {"removeprefix", remove_affix<true>},
      {"removesuffix", remove_affix<false>},
      {"replace", replace},
      {"rjust", padded<Side::right>},
      {"rpartition", partition<true>},
      {"rsplit", rsplit},
      {"rstrip", strip<Side::right>},
      {"split", split},
      {"splitlines", splitlines},
      {"strip", strip<Side::both>},
      {"title", change_case<Case::title>},
      {"upper", change_case<Case::upper>},
      {"zfill", zfill},
  };
  return kMethods;
}

}  // namespace sticky::chat
