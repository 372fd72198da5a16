#pragma once

#include <string>

#include "context.hpp"

namespace sticky::chat {

/// Python's str(value): what a template prints. Strings keep their origin.
void append_str(Context& context, Text& out, const Value& value);
/// Python's repr(value).
void append_repr(Context& context, Text& out, const Value& value);
/// str(value) as a text that lives as long as the context; a string's own.
[[nodiscard]] const Text& text_of(Context& context, const Value& value);
/// Python's repr of a float: the shortest digits that read back as the same number.
[[nodiscard]] std::string float_repr(double value);

}  // namespace sticky::chat
