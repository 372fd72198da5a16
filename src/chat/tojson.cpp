#include "tojson.hpp"

#include <algorithm>
#include <cmath>

#include "sticky/base/utf8.hpp"

#include "operators.hpp"
#include "repr.hpp"

namespace sticky::chat {

namespace {

// The escape of a character, or nothing where it stands for itself.
std::string json_escape(char32_t c, bool ascii_only) {
  switch (c) {
    case U'"':
      return "\\\"";
    case U'\\':
      return "\\\\";
    case U'\n':
      return "\\n";
    case U'\r':
      return "\\r";
    case U'\t':
      return "\\t";
    case U'\b':
      return "\\b";
    case U'\f':
      return "\\f";
    default:
      break;
  }
  const auto number = static_cast<std::uint32_t>(c);
  if (c < 0x20 || (ascii_only && c > 0x7E && c < 0x10000)) return fmt::format("\\u{:04x}", number);
  if (!ascii_only || c < 0x10000) return {};
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((number - 0x10000) >> 10),
                     0xDC00 + ((number - 0x10000) & 0x3FF));
}

class JsonWriter {
 public:
  JsonWriter(Context& context, Text& out, const JsonStyle& style)
      : context_(context),
        out_(out),
        style_(style) {}

  void write(const Value& value) {
    const Deeper deeper(context_);
    context_.spend_steps(1);
    switch (value.kind()) {
      case Kind::none:
        return own("null");
      case Kind::boolean:
        return own(value.boolean() ? "true" : "false");
      case Kind::integer:
        return own(fmt::format("{}", value.whole()));
      case Kind::number:
        return write_number(value);
      case Kind::string:
        return write_string(value.text());
      case Kind::list:
        return write_list(value);
      case Kind::dict:
        return write_dict(value.dict());
      default:
        context_.fail("a value of type {} cannot become JSON", value.type_name());
    }
  }

 private:
  void own(std::string_view text) { context_.append(out_, text); }

  void write_number(const Value& value) {
    if (value.digits() != nullptr) return context_.append(out_, *value.digits());
    const double number = value.number();
    if (std::isnan(number)) return own("NaN");
    if (std::isinf(number)) return own(number < 0 ? "-Infinity" : "Infinity");
    own(float_repr(number));
  }

  void write_string(const Text& text) {
    context_.spend_bytes(text.weight());
    own("\"");
    i64 plain = 0;  // first byte not yet written
    for (i64 at = 0; at < text.size();) {
      const auto c = utf8::decode(text.bytes(), at);
      if (const auto escape = json_escape(c.code_point, style_.ascii_only); !escape.empty()) {
        context_.spend_bytes(static_cast<i64>(escape.size()));
        out_.append(text, plain, at - plain);
        out_.append_instead(escape, text, at, c.n_bytes);
        plain = at + c.n_bytes;
      }
      at += c.n_bytes;
    }
    out_.append(text, plain, text.size() - plain);
    own("\"");
  }

  void write_list(const Value& value) {
    const List& list = value.list();
    if (list.form != List::Form::list && !list.is_tuple())
      context_.fail("a value of type {} cannot become JSON", value.type_name());
    if (list.items.empty()) return own("[]");
    open("[");
    for (const Value& item : list.items) {
      separate(&item == &list.items.front());
      write(item);
    }
    close("]");
  }

  void write_dict(const Dict& dict) {
    if (dict.entries.empty()) return own("{}");
    std::vector<Dict::Entry> entries = dict.entries;
    context_.spend_elements(dict.size(), sizeof(Dict::Entry));
    if (style_.sort_keys) {
      std::ranges::stable_sort(entries, [&](const auto& a, const auto& b) {
        return order(context_, a.first, b.first) < 0;
      });
    }
    open("{");
    for (const auto& entry : entries) {
      separate(&entry == &entries.front());
      write_key(entry.first);
      own(style_.key_separator);
      write(entry.second);
    }
    close("}");
  }

  void write_key(const Value& key) {
    if (key.is_string()) return write_string(key.text());
    if (!key.is_none() && !key.is_numeric())
      context_.fail("a key of type {} cannot become JSON", key.type_name());
    own("\"");
    write(key);
    own("\"");
  }

  void open(std::string_view bracket) {
    own(bracket);
    ++level_;
  }
  void separate(bool is_first) {
    if (!is_first) own(style_.item_separator);
    new_line();
  }
  void close(std::string_view bracket) {
    --level_;
    new_line();
    own(bracket);
  }
  void new_line() {
    if (!style_.indent) return;
    own("\n");
    for (i64 i = 0; i < level_; ++i)
      own(*style_.indent);
  }

  Context& context_;
  Text& out_;
  const JsonStyle& style_;
  i64 level_ = 0;
};

}  // namespace

void append_json(Context& context, Text& out, const Value& value, const JsonStyle& style) {
  JsonWriter(context, out, style).write(value);
}

}  // namespace sticky::chat
