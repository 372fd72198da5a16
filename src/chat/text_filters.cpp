#include <algorithm>

#include "sticky/base/utf8.hpp"

#include "arguments.hpp"
#include "filters.hpp"
#include "format.hpp"
#include "operators.hpp"
#include "repr.hpp"
#include "text_functions.hpp"
#include "tojson.hpp"
#include "unicode.hpp"

namespace sticky::chat {

namespace {

constexpr i64 kMaxIndent = 1'000;  // blanks

template <Case which>
Value change_case(Context& context, const Value& input, Arguments&) {
  return context.make_text(in_case(context, text_of(context, input), which));
}

// Jinja's title: a word begins behind white space and - ( { [ <.
Value title(Context& context, const Value& input, Arguments&) {
  const Text& text = text_of(context, input);
  context.spend_bytes(2 * text.weight());
  Text out;
  bool begins_word = true;
  std::string mapped;
  for (i64 at = 0; at < text.size();) {
    const auto c = utf8::decode(text.bytes(), at);
    mapped.clear();
    if (begins_word) {
      append_upper(mapped, c.code_point);
    } else {
      append_lower(mapped, c.code_point);
    }
    begins_word = is_space(c.code_point) ||
                  std::u32string_view(U"-({[<").find(c.code_point) != std::u32string_view::npos;
    out.append_instead(mapped, text, at, c.n_bytes);
    at += c.n_bytes;
  }
  return context.make_text(std::move(out));
}

Value trim(Context& context, const Value& input, Arguments& arguments) {
  const Value set = arguments.take_or("chars", {});
  const Text& text = text_of(context, input);
  if (set.is_none()) return context.make_text(stripped(context, text, Side::both, {}));
  if (!set.is_string()) context.fail("trim: found {}, expected a string", set.type_name());
  if (set.bytes().empty()) return &text;
  return context.make_text(stripped(context, text, Side::both, set.bytes()));
}

Value replace(Context& context, const Value& input, Arguments& arguments) {
  const Text& from = text_of(context, arguments.need(context, "old"));
  const Text& to = text_of(context, arguments.need(context, "new"));
  const Value count = arguments.take_or("count", {});
  const i64 n_most = count.is_whole() ? count.whole() : -1;
  return context.make_text(replaced(context, text_of(context, input), from, to, n_most));
}

Value string(Context& context, const Value& input, Arguments&) {
  return &text_of(context, input);
}

Value escape(Context& context, const Value& input, Arguments&) {
  static constexpr std::pair<char, std::string_view> kEscapes[] = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&#34;"}, {'\'', "&#39;"}};
  const Text& text = text_of(context, input);
  context.spend_elements(text.weight(), 6);
  Text out;
  for (i64 at = 0; at < text.size(); ++at) {
    const char c = text.bytes()[static_cast<std::size_t>(at)];
    const auto* found = std::ranges::find(kEscapes, c, &std::pair<char, std::string_view>::first);
    if (found == std::end(kEscapes)) {
      out.append(text, at, 1);
    } else {
      out.append_instead(found->second, text, at, 1);
    }
  }
  return context.make_text(std::move(out));
}

Value indent(Context& context, const Value& input, Arguments& arguments) {
  if (!input.is_string()) context.fail("indent: found {}, expected a string", input.type_name());
  const Value width = arguments.take_or("width", i64{4});
  const bool indents_first = arguments.take_flag("first", false);
  const bool indents_blank = arguments.take_flag("blank", false);
  Text shift;
  if (width.is_string()) {
    shift = width.text();
  } else if (width.is_whole() && width.whole() <= kMaxIndent) {
    shift.append(std::string(static_cast<std::size_t>(std::max<i64>(width.whole(), 0)), ' '));
  } else {
    context.fail("indent: the width is no string and no integer up to {}", kMaxIndent);
  }
  Text whole;
  context.append(whole, input.text());
  context.append(whole, "\n");  // as Jinja: one more line end, which splitting drops again
  Text out;
  bool is_first = true;
  for (const Value& line : split_lines(context, whole, false)) {
    if (!is_first) context.append(out, "\n");
    const bool shifts = is_first ? indents_first : indents_blank || !line.bytes().empty();
    if (shifts) context.append(out, shift);
    context.append(out, line.text());
    is_first = false;
  }
  return context.make_text(std::move(out));
}

Value truncate(Context& context, const Value& input, Arguments& arguments) {
  const i64 most = arguments.take_integer(context, "length", 255);
  const bool cuts_words = arguments.take_flag("killwords", false);
  const Text& end =
      text_of(context, arguments.take_or("end", context.make_text(std::string("..."))));
  const i64 leeway = arguments.take_integer(context, "leeway", 5);
  const i64 n_kept = most - count_characters(end.bytes());
  if (n_kept < 0 || leeway < 0) context.fail("truncate: the length {} is too small", most);
  if (length(context, input) - leeway <= most) return input;
  if (!input.is_string()) context.fail("truncate: found {}, expected a string", input.type_name());
  const Text& text = input.text();
  context.spend_bytes(text.weight());
  Text out = text.slice(0, byte_of_character(text.bytes(), n_kept));
  const auto blank = out.bytes().rfind(' ');
  if (!cuts_words && blank != std::string::npos) out = out.slice(0, static_cast<i64>(blank));
  context.append(out, end);
  return context.make_text(std::move(out));
}

Value center(Context& context, const Value& input, Arguments& arguments) {
  const i64 width = arguments.take_integer(context, "width", 80);
  const Text& text = text_of(context, input);
  const i64 missing = std::max<i64>(width - count_characters(text.bytes()), 0);
  context.spend_elements(missing, 1);
  // CPython's rule for the odd blank.
  const i64 left = missing / 2 + (missing & width & 1);
  Text out(std::string(static_cast<std::size_t>(left), ' '));
  context.append(out, text);
  out.append(std::string(static_cast<std::size_t>(missing - left), ' '));
  return context.make_text(std::move(out));
}

Value format(Context& context, const Value& input, Arguments& arguments) {
  const Text& text = text_of(context, input);
  if (arguments.named.empty()) {
    const Value values = context.make_list(List::Form::tuple, arguments.take_positional());
    return format_percent(context, text, values);
  }
  Dict* values = context.make<Dict>();
  for (const auto& [name, value] : std::exchange(arguments.named, {}))
    values->entries.emplace_back(context.make_text(std::string(name)), value);
  return format_percent(context, text, values);
}

void read_separators(const Context& context, const Value& separators, JsonStyle& style) {
  if (separators.is_none()) return;
  const bool is_pair = separators.is(Kind::list) && separators.list().size() == 2 &&
                       separators.list().items[0].is_string() &&
                       separators.list().items[1].is_string();
  if (!is_pair) context.fail("tojson: separators must be two strings");
  style.item_separator = separators.list().items[0].bytes();
  style.key_separator = separators.list().items[1].bytes();
}

Value tojson(Context& context, const Value& input, Arguments& arguments) {
  JsonStyle style;
  style.ascii_only = arguments.take_flag("ensure_ascii", false);
  const Value width = arguments.take_or("indent", {});
  const Value separators = arguments.take_or("separators", {});
  style.sort_keys = arguments.take_flag("sort_keys", false);
  if (width.is_string()) {
    style.indent = width.bytes();
  } else if (width.is_whole() && width.whole() <= kMaxIndent) {
    style.indent.emplace(static_cast<std::size_t>(std::max<i64>(width.whole(), 0)), ' ');
  } else if (!width.is_none()) {
    context.fail("tojson: the indent is no string and no integer up to {}", kMaxIndent);
  }
  if (style.indent) style.item_separator = ",";
  read_separators(context, separators, style);
  Text out;
  append_json(context, out, input, style);
  return context.make_text(std::move(out));
}

}  // namespace

std::span<const Filter> text_filters() {
  static constexpr Filter kFilters[] = {
      {"capitalize", change_case<Case::capitalized>},
      {"center", center},
      {"e", escape},
      {"escape", escape},
      {"forceescape", escape},
      {"format", format},
      {"indent", indent},
      {"lower", change_case<Case::lower>},
      {"replace", replace},
      {"safe", string},
      {"string", string},
      {"title", title},
      {"tojson", tojson},
      {"trim", trim},
      {"truncate", truncate},
      {"upper", change_case<Case::upper>},
  };
  return kFilters;
}

}  // namespace sticky::chat
