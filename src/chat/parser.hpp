#pragma once

#include <string_view>

#include "ast.hpp"

namespace sticky::chat {

/// The tree of a template. TemplateError with the line: wrong syntax, an unknown filter, test or
/// tag, too deep a nesting.
[[nodiscard]] Block parse_template(std::string_view source);

}  // namespace sticky::chat
