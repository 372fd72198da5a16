#include "format.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "sticky/base/utf8.hpp"

#include "operators.hpp"
#include "repr.hpp"
#include "unicode.hpp"

namespace sticky::chat {

namespace {

constexpr i64 kMaxWidth = 10'000;  // of a field; no text for people needs more

// How one value is written.
struct Spec {
  std::string fill = " ";
  char align = '\0';  ///< < > ^ =; none: as the type wants
  char sign = '-';    ///< + - or blank
  i64 width = 0;
  i64 precision = -1;
  char type = '\0';
};

i64 read_digits(const Context& context, std::string_view text, std::size_t& at) {
  i64 value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    value = value * 10 + (text[at] - '0');
    if (value > kMaxWidth) context.fail("a width or precision of more than {}", kMaxWidth);
  }
  return value;
}

std::string with_sign(const Spec& spec, std::string digits) {
  if (digits.starts_with('-') || spec.sign == '-') return digits;
  return spec.sign + digits;
}

std::string write_double(const Spec& spec, double value) {
  const int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
  const bool is_percent = spec.type == '%';
  const char form[] = {'%', '.', '*', is_percent ? 'f' : spec.type, '\0'};
  const double shown = is_percent ? value * 100 : value;
  const auto measured = std::snprintf(nullptr, 0, form, precision, shown);
  std::string out(static_cast<std::size_t>(measured) + 1, '\0');
  std::snprintf(out.data(), out.size(), form, precision, shown);
  out.pop_back();
  if (is_percent) out += '%';
  return with_sign(spec, std::move(out));
}

std::string write_whole(const Context& context, const Spec& spec, const Value& value) {
  i64 number = 0;
  if (value.is_whole()) {
    number = value.whole();
  } else if (value.is(Kind::number) && std::fabs(value.number()) < 9e18) {
    number = static_cast<i64>(value.number());
  } else {
    context.fail("'{}' needs a number, found {}", spec.type, value.type_name());
  }
  const auto size =
      number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  const std::string minus = number < 0 ? "-" : "";
  switch (spec.type) {
    case 'x':
      return with_sign(spec, minus + fmt::format("{:x}", size));
    case 'X':
      return with_sign(spec, minus + fmt::format("{:X}", size));
    case 'o':
      return with_sign(spec, minus + fmt::format("{:o}", size));
    case 'b':
      return with_sign(spec, minus + fmt::format("{:b}", size));
    default:
      return with_sign(spec, minus + fmt::format("{}", size));
  }
}

// Pads to the width; zeros go behind the sign.
void append_padded(Context& context, Text& out, const Text& body, const Spec& spec) {
  const i64 missing = std::max<i64>(spec.width - count_characters(body.bytes()), 0);
  context.read_bytes(body.size());
  i64 left = spec.align == '<' ? 0 : missing;
  if (spec.align == '^') left = missing / 2;
  const auto pad = [&](i64 n) {
    for (i64 i = 0; i < n; ++i)
      context.append(out, spec.fill);
  };
  const bool has_sign = spec.align == '=' && !body.bytes().empty() &&
                        std::string_view("+- ").find(body.bytes()[0]) != std::string_view::npos;
  context.spend_bytes(body.weight());
  if (has_sign) out.append(body, 0, 1);
  pad(left);
  out.append(body, has_sign ? 1 : 0, body.size() - (has_sign ? 1 : 0));
  pad(missing - left);
}

bool writes_double(char type) {
  return std::string_view("fFeEgG%").find(type) != std::string::npos;
}
bool writes_whole(char type) {
  return std::string_view("dixXob").find(type) != std::string::npos;
}

Text cut(const Text& text, i64 n_characters) {
  if (n_characters < 0) return text;
  return text.slice(0, byte_of_character(text.bytes(), n_characters));
}

void append_formatted(Context& context, Text& out, const Value& value, Spec spec) {
  Text body;
  if (spec.type == 's' || spec.type == 'r') {
    if (spec.type == 's') append_str(context, body, value);
    if (spec.type == 'r') append_repr(context, body, value);
    body = cut(body, spec.precision);
    if (spec.align == '\0') spec.align = '<';
  } else if (writes_double(spec.type)) {
    if (!value.is_numeric())
      context.fail("'{}' needs a number, found {}", spec.type, value.type_name());
    body.append(write_double(spec, value.number()));
  } else {
    body.append(write_whole(context, spec, value));
  }
  append_padded(context, out, body, spec);
}

// The values of a %-format, in order or by name.
class PercentValues {
 public:
  PercentValues(Context& context, const Value& values) : context_(context), values_(values) {
    if (values.is(Kind::list) && values.list().is_tuple()) {
      items_ = values.list().items;
    } else {
      items_ = {values};
    }
  }
  Value next() {
    if (n_used_ == items_.size()) context_.fail("a format has more fields than values");
    return items_[n_used_++];
  }
  Value named(std::string_view name) {
    if (!values_.is(Kind::dict)) context_.fail("a format with names needs a dict");
    n_used_ = items_.size();
    const Value* found = values_.dict().find(name);
    if (found == nullptr) context_.fail("the format's dict has no '{}'", name);
    return *found;
  }
  void check_all_used() const {
    // Python takes what has elements by name or number for a mapping.
    const bool is_one_list =
        values_.is_undefined() || (values_.is(Kind::list) && !values_.list().is_tuple());
    if (n_used_ < items_.size() && !values_.is(Kind::dict) && !is_one_list)
      context_.fail("a format has fewer fields than values");
  }

 private:
  Context& context_;
  Value values_;
  std::vector<Value> items_;
  std::size_t n_used_ = 0;
};

// Reads what stands behind a % up to the conversion's letter and writes it.
void take_percent_field(
    Context& context, Text& out, std::string_view format, std::size_t& at, PercentValues& values) {
  std::string_view name;
  const bool is_named = at < format.size() && format[at] == '(';
  if (is_named) {
    const auto close = format.find(')', at);
    if (close == std::string_view::npos) context.fail("a name in a format has no ')'");
    name = format.substr(at + 1, close - at - 1);
    at = close + 1;
  }
  Spec spec;
  for (; at < format.size() && std::string_view("-+ 0#").find(format[at]) != std::string::npos;
       ++at) {
    if (format[at] == '-') spec.align = '<';
    if (format[at] == '+' || format[at] == ' ') spec.sign = format[at];
    if (format[at] == '0' && spec.align == '\0') spec.align = '=';
  }
  spec.width = read_digits(context, format, at);
  if (at < format.size() && format[at] == '.') spec.precision = read_digits(context, format, ++at);
  if (at >= format.size()) context.fail("a format ends inside a field");
  spec.type = format[at++];
  if (spec.type == '%') return context.append(out, "%");
  if (spec.type == 'a') spec.type = 'r';
  if (spec.type == 'u') spec.type = 'd';
  const bool is_text = spec.type == 's' || spec.type == 'r';
  if (!is_text && (!(writes_double(spec.type) || writes_whole(spec.type)) || spec.type == 'b'))
    context.fail("unknown conversion '%{}' in a format", spec.type);
  if (spec.align == '=' && !is_text) spec.fill = "0";
  if (spec.align == '\0' || (is_text && spec.align == '=')) spec.align = '>';
  append_formatted(context, out, is_named ? values.named(name) : values.next(), spec);
}

Spec read_brace_spec(Context& context, std::string_view text, const Value& value) {
  Spec spec;
  std::size_t at = 0;
  const auto is_align = [&](std::size_t i) {
    return i < text.size() && std::string_view("<>^=").find(text[i]) != std::string_view::npos;
  };
  const i64 n_fill = text.empty() ? 0 : utf8::decode(text, 0).n_bytes;
  if (n_fill > 0 && is_align(static_cast<std::size_t>(n_fill))) {
    spec.fill = text.substr(0, static_cast<std::size_t>(n_fill));
    at = static_cast<std::size_t>(n_fill);
  }
  if (is_align(at)) spec.align = text[at++];
  if (at < text.size() && std::string_view("+- ").find(text[at]) != std::string_view::npos)
    spec.sign = text[at++];
  if (at < text.size() && text[at] == '0' && spec.align == '\0') {
    spec.fill = "0";
    spec.align = '=';
    ++at;
  }
  spec.width = read_digits(context, text, at);
  if (at < text.size() && text[at] == '.') spec.precision = read_digits(context, text, ++at);
  if (at < text.size()) spec.type = text[at++];
  if (at < text.size()) context.fail("cannot read the format specification '{}'", text);
  // Python: a boolean that has a specification is a number; other types have none at all.
  const bool is_number = value.is_numeric() && !(value.is(Kind::boolean) && text.empty());
  if (!text.empty() && !is_number && !value.is_string())
    context.fail("a value of type {} has no format '{}'", value.type_name(), text);
  if (value.is_whole() && spec.precision >= 0 && !writes_double(spec.type))
    context.fail("a value of type {} has no precision", value.type_name());
  if (spec.type == '\0' && value.is(Kind::boolean) && is_number) spec.type = 'd';
  if (spec.type == '\0' && value.is(Kind::number) && spec.precision >= 0) spec.type = 'g';
  if ((spec.type == '\0' || spec.type == 'd') && is_number && spec.align == '\0') spec.align = '>';
  if (spec.type == '\0') spec.type = 's';
  const bool is_known =
      spec.type == 's' || writes_double(spec.type) || (writes_whole(spec.type) && spec.type != 'i');
  if (!is_known || (spec.type == 's' && value.is_numeric() && text.ends_with('s')))
    context.fail("a value of type {} has no format '{}'", value.type_name(), text);
  return spec;
}

// {name!conversion:specification}, without the braces.
void append_brace_field(Context& context,
                        Text& out,
                        std::string_view field,
                        Arguments& arguments,
                        std::size_t& n_automatic) {
  const auto colon = field.find(':');
  const auto spec_text = colon == std::string_view::npos ? "" : field.substr(colon + 1);
  std::string_view name = field.substr(0, colon);
  char conversion = '\0';
  if (name.size() >= 2 && name[name.size() - 2] == '!') {
    conversion = name.back();
    name.remove_suffix(2);
  }
  std::optional<Value> value;
  if (name.empty() || std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) {
    std::size_t at = 0;
    const auto index =
        name.empty() ? n_automatic++ : static_cast<std::size_t>(read_digits(context, name, at));
    if (index < arguments.positional.size()) value = arguments.positional[index];
  } else {
    for (const auto& [key, v] : arguments.named) {
      if (key == name) value = v;
    }
  }
  if (!value) context.fail("a format has no value for its field '{}'", name);
  if (conversion != '\0') {
    Text text;
    if (conversion != 's' && conversion != 'r')
      context.fail("unknown conversion '!{}'", conversion);
    if (conversion == 's') append_str(context, text, *value);
    if (conversion == 'r') append_repr(context, text, *value);
    value = context.make_text(std::move(text));
  }
  append_formatted(context, out, *value, read_brace_spec(context, spec_text, *value));
}

}  // namespace

Value format_percent(Context& context, const Text& format, const Value& values) {
  const std::string_view bytes = format.bytes();
  PercentValues items(context, values);
  Text out;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto percent = std::min(bytes.find('%', at), bytes.size());
    context.append(out, format.slice(static_cast<i64>(at), static_cast<i64>(percent - at)));
    at = percent;
    if (at < bytes.size()) take_percent_field(context, out, bytes, ++at, items);
  }
  items.check_all_used();
  return context.make_text(std::move(out));
}

Value format_braces(Context& context, const Text& format, Arguments& arguments) {
  const std::string_view bytes = format.bytes();
  Text out;
  std::size_t n_automatic = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto brace = std::min(bytes.find_first_of("{}", at), bytes.size());
    context.append(out, format.slice(static_cast<i64>(at), static_cast<i64>(brace - at)));
    at = brace;
    if (at == bytes.size()) break;
    if (at + 1 < bytes.size() && bytes[at + 1] == bytes[at]) {
      context.append(out, bytes.substr(at, 1));
      at += 2;
      continue;
    }
    const auto close = bytes.find('}', at);
    if (bytes[at] == '}' || close == std::string_view::npos)
      context.fail("a single '{}' in a format", bytes[at]);
    append_brace_field(context, out, bytes.substr(at + 1, close - at - 1), arguments, n_automatic);
    at = close + 1;
  }
  arguments.take_positional();
  arguments.named.clear();
  return context.make_text(std::move(out));
}

}  // namespace sticky::chat
