#include "repr.hpp"

#include <charconv>
#include <cmath>

#include "sticky/base/utf8.hpp"

#include "unicode.hpp"

namespace sticky::chat {

namespace {

std::string escaped(char32_t c, char quote) {
  switch (c) {
    case U'\n':
      return "\\n";
    case U'\r':
      return "\\r";
    case U'\t':
      return "\\t";
    case U'\\':
      return "\\\\";
    default:
      break;
  }
  const auto number = static_cast<std::uint32_t>(c);
  if (c == static_cast<char32_t>(quote)) return fmt::format("\\{}", quote);
  if (c < 0x100) return fmt::format("\\x{:02x}", number);
  return c < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

void append_string_repr(Context& context, Text& out, const Text& text) {
  const std::string& bytes = text.bytes();
  const bool has_single = bytes.find('\'') != std::string::npos;
  const char quote = has_single && bytes.find('"') == std::string::npos ? '"' : '\'';
  context.spend_bytes(2 * text.weight());
  out.append(std::string_view(&quote, 1));
  i64 plain = 0;  // first byte not yet written
  for (i64 at = 0; at < text.size();) {
    const auto c = utf8::decode(bytes, at);
    if (c.code_point == static_cast<char32_t>(quote) || c.code_point == U'\\' ||
        !is_printable(c.code_point)) {
      out.append(text, plain, at - plain);
      out.append_instead(escaped(c.code_point, quote), text, at, c.n_bytes);
      plain = at + c.n_bytes;
    }
    at += c.n_bytes;
  }
  out.append(text, plain, text.size() - plain);
  out.append(std::string_view(&quote, 1));
}

struct Frame {
  std::string_view open, close;
};
Frame frame_of(const List& list) {
  switch (list.form) {
    case List::Form::list:
      return {"[", "]"};
    case List::Form::tuple:
    case List::Form::group:
      return {"(", list.size() == 1 ? ",)" : ")"};
    case List::Form::keys:
      return {"dict_keys([", "])"};
    case List::Form::values:
      return {"dict_values([", "])"};
    case List::Form::items:
      return {"dict_items([", "])"};
    default:
      return {};
  }
}

void append_list_repr(Context& context, Text& out, const List& list) {
  if (list.form == List::Form::generator) return context.append(out, "<generator object>");
  if (list.form == List::Form::range) {
    const i64 n = list.size();
    const i64 first = n > 0 ? list.items[0].whole() : 0;
    const i64 step = n > 1 ? list.items[1].whole() - first : 1;
    const auto tail = step == 1 ? std::string() : fmt::format(", {}", step);
    return context.append(out, fmt::format("range({}, {}{})", first, first + n * step, tail));
  }
  const Frame frame = frame_of(list);
  context.append(out, frame.open);
  for (i64 i = 0; i < list.size(); ++i) {
    if (i > 0) context.append(out, ", ");
    append_repr(context, out, list.items[static_cast<std::size_t>(i)]);
  }
  context.append(out, frame.close);
}

void append_dict_repr(Context& context, Text& out, const Dict& dict) {
  context.append(out, "{");
  bool is_first = true;
  for (const auto& [key, value] : dict.entries) {
    if (!std::exchange(is_first, false)) context.append(out, ", ");
    append_repr(context, out, key);
    context.append(out, ": ");
    append_repr(context, out, value);
  }
  context.append(out, "}");
}

}  // namespace

std::string float_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // Python writes an exponent below 1e-4 and from 1e16 on, whatever is shorter.
  const double size = std::fabs(value);
  const bool has_exponent = size != 0.0 && (size < 1e-4 || size >= 1e16);
  char digits[64];
  const auto [end, error] =
      std::to_chars(digits, digits + sizeof digits, value,
                    has_exponent ? std::chars_format::scientific : std::chars_format::fixed);
  std::string text(digits, end);
  if (!has_exponent && text.find('.') == std::string::npos) text += ".0";
  return text;
}

void append_repr(Context& context, Text& out, const Value& value) {
  const Deeper deeper(context);
  context.spend_steps(1);
  switch (value.kind()) {
    case Kind::undefined:
      return context.append(out, "Undefined");
    case Kind::none:
      return context.append(out, "None");
    case Kind::boolean:
      return context.append(out, value.boolean() ? "True" : "False");
    case Kind::integer:
      return context.append(out, fmt::format("{}", value.whole()));
    case Kind::number:
      if (value.digits() != nullptr) return context.append(out, *value.digits());
      return context.append(out, float_repr(value.number()));
    case Kind::string:
      return append_string_repr(context, out, value.text());
    case Kind::list:
      return append_list_repr(context, out, value.list());
    case Kind::dict:
      return append_dict_repr(context, out, value.dict());
    case Kind::object:
      break;
  }
  context.append(out, fmt::format("<{}>", value.type_name()));
}

void append_str(Context& context, Text& out, const Value& value) {
  if (value.is_undefined()) return;
  if (value.is_string()) return context.append(out, value.text());
  append_repr(context, out, value);
}

const Text& text_of(Context& context, const Value& value) {
  if (value.is_string()) return value.text();
  Text text;
  append_str(context, text, value);
  return context.make_text(std::move(text)).text();
}

}  // namespace sticky::chat
