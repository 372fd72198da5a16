#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "context.hpp"

namespace sticky::chat {

/// How json.dumps of Python writes.
struct JsonStyle {
  bool ascii_only = false;
  bool sort_keys = false;
  std::optional<std::string> indent;  ///< of one level; none: all on one line
  std::string_view item_separator = ", ";
  std::string_view key_separator = ": ";
};

/// Appends the value as JSON. Strings keep their origin; punctuation is the template's.
/// TemplateError for what JSON cannot hold (undefined, functions).
void append_json(Context& context, Text& out, const Value& value, const JsonStyle& style);

}  // namespace sticky::chat
