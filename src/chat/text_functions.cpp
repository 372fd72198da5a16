#include "text_functions.hpp"

#include <algorithm>

#include "sticky/base/utf8.hpp"

#include "operators.hpp"
#include "repr.hpp"
#include "unicode.hpp"

namespace sticky::chat {

namespace {

bool is_letter(char32_t c) {
  std::string upper;
  std::string lower;
  append_upper(upper, c);
  append_lower(lower, c);
  return upper != lower;
}

// Where the set's characters end, walking from the left.
i64 skip_set(std::string_view text, std::string_view set) {
  i64 at = 0;
  while (at < static_cast<i64>(text.size())) {
    const auto c = utf8::decode(text, at);
    const auto character =
        text.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(c.n_bytes));
    if (set.find(character) == std::string_view::npos) break;
    at += c.n_bytes;
  }
  return at;
}

i64 end_without_set(std::string_view text, i64 from, std::string_view set) {
  i64 end = static_cast<i64>(text.size());
  while (end > from) {
    i64 first = end - 1;
    while (first > from &&
           (static_cast<unsigned char>(text[static_cast<std::size_t>(first)]) & 0xC0) == 0x80)
      --first;
    const auto character =
        text.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
    if (set.find(character) == std::string_view::npos) break;
    end = first;
  }
  return end;
}

void check_separator(const Context& context, std::string_view separator) {
  if (separator.empty()) context.fail("the separator of a split is empty");
}

// Line ends of Python's str.splitlines, of one character.
bool ends_line(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

}  // namespace

Text in_case(Context& context, const Text& text, Case which) {
  context.spend_bytes(2 * text.weight());
  Text out;
  bool behind_letter = false;
  std::string mapped;
  for (i64 at = 0; at < text.size();) {
    const auto c = utf8::decode(text.bytes(), at);
    const bool to_upper = which == Case::upper || (which == Case::capitalized && at == 0) ||
                          (which == Case::title && !behind_letter);
    mapped.clear();
    if (to_upper) {
      append_upper(mapped, c.code_point);
      if (which != Case::upper && mapped == "SS") mapped = "Ss";
    } else {
      append_lower(mapped, c.code_point);
    }
    behind_letter = which == Case::title && is_letter(c.code_point);
    out.append_instead(mapped, text, at, c.n_bytes);
    at += c.n_bytes;
  }
  return text.size() == 0 ? text.slice(0, 0) : out;
}

Text stripped(Context& context, const Text& text, Side side, std::string_view set) {
  context.read_bytes(text.size() * std::max<i64>(1, static_cast<i64>(set.size()) / 16));
  const std::string_view bytes = text.bytes();
  i64 first = 0;
  i64 end = text.size();
  if (side != Side::right) first = set.empty() ? skip_space(bytes, 0) : skip_set(bytes, set);
  if (side != Side::left)
    end = set.empty() ? end_without_space(bytes, first) : end_without_set(bytes, first, set);
  return text.slice(first, end - first);
}

Text replaced(Context& context, const Text& text, const Text& from, const Text& to, i64 n_most) {
  Text out;
  i64 at = 0;
  const auto keep = [&](i64 end) {
    context.spend_bytes(end - at);
    out.append(text, at, end - at);
  };
  context.spend_bytes(text.weight());
  for (i64 n = 0; n_most < 0 || n < n_most; ++n) {
    // An empty pattern stands between all characters, and at both ends.
    i64 found = find_bytes(context, text.bytes(), from.bytes(), at);
    if (from.size() == 0 && n > 0) {
      found = at < text.size() ? at + utf8::decode(text.bytes(), at).n_bytes : -1;
    }
    if (found < 0) break;
    keep(found);
    context.append(out, to);
    at = found + from.size();
  }
  keep(text.size());
  return text.size() == 0 && out.size() == 0 ? text.slice(0, 0) : out;
}

std::vector<Value> split_at(Context& context,
                            const Text& text,
                            std::string_view separator,
                            i64 n_most) {
  check_separator(context, separator);
  std::vector<Value> pieces;
  i64 at = 0;
  for (i64 n = 0; n_most < 0 || n < n_most; ++n) {
    const i64 found = find_bytes(context, text.bytes(), separator, at);
    if (found < 0) break;
    pieces.push_back(context.make_text(text.slice(at, found - at)));
    at = found + static_cast<i64>(separator.size());
  }
  pieces.push_back(context.make_text(text.slice(at, text.size() - at)));
  return pieces;
}

std::vector<Value> split_at_space(Context& context, const Text& text, i64 n_most) {
  std::vector<Value> pieces;
  const std::string_view bytes = text.bytes();
  context.read_bytes(text.size());
  for (i64 at = skip_space(bytes, 0); at < text.size(); at = skip_space(bytes, at)) {
    i64 end = at;
    while (end < text.size()) {
      const auto c = utf8::decode(bytes, end);
      if (is_space(c.code_point)) break;
      end += c.n_bytes;
    }
    if (n_most >= 0 && static_cast<i64>(pieces.size()) == n_most) end = text.size();
    pieces.push_back(context.make_text(text.slice(at, end - at)));
    if (n_most >= 0 && static_cast<i64>(pieces.size()) > n_most) break;
    at = end;
  }
  return pieces;
}

std::vector<Value> split_at_from_right(Context& context,
                                       const Text& text,
                                       std::string_view separator,
                                       i64 n_most) {
  check_separator(context, separator);
  std::vector<Value> pieces;
  const std::string_view bytes = text.bytes();
  auto end = bytes.size();
  while (static_cast<i64>(pieces.size()) < n_most) {
    context.spend_steps(1 + static_cast<i64>(end / 64 * separator.size()));  // rfind at its worst
    const auto found = end < separator.size() ? std::string_view::npos
                                              : bytes.rfind(separator, end - separator.size());
    const auto first = found == std::string_view::npos ? 0 : found + separator.size();
    if (found == std::string_view::npos) break;
    pieces.push_back(
        context.make_text(text.slice(static_cast<i64>(first), static_cast<i64>(end - first))));
    end = found;
  }
  pieces.push_back(context.make_text(text.slice(0, static_cast<i64>(end))));
  std::ranges::reverse(pieces);
  return pieces;
}

std::vector<Value> split_lines(Context& context, const Text& text, bool keep_ends) {
  std::vector<Value> lines;
  i64 first = 0;
  for (i64 at = 0; at < text.size();) {
    const auto c = utf8::decode(text.bytes(), at);
    i64 next = at + c.n_bytes;
    if (ends_line(c.code_point)) {
      if (c.code_point == U'\r' && text.bytes().substr(static_cast<std::size_t>(next), 1) == "\n")
        ++next;
      lines.push_back(context.make_text(text.slice(first, (keep_ends ? next : at) - first)));
      first = next;
    }
    at = next;
  }
  if (first < text.size())
    lines.push_back(context.make_text(text.slice(first, text.size() - first)));
  return lines;
}

Value join(Context& context, const Text& separator, const std::vector<Value>& items) {
  Text out;
  for (const Value& item : items) {
    if (&item != &items.front()) context.append(out, separator);
    append_str(context, out, item);
  }
  return context.make_text(std::move(out));
}

}  // namespace sticky::chat
