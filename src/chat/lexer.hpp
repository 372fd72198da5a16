#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky::chat {

struct Token {
  enum class Kind {
    text,              ///< of the template, outside all tags; never empty
    expression_begin,  ///< {{
    expression_end,
    block_begin,  ///< {%
    block_end,
    name,
    string,  ///< its value, escapes resolved
    integer,
    number,
    symbol,  ///< operators and brackets
    end
  };
  Kind kind = Kind::end;
  std::string text;
  i64 line = 1;
};

/// Cuts a template into tokens, the last of kind `end`. White space is controlled as Jinja does
/// with trim_blocks and lstrip_blocks; comments are gone, raw blocks are text, line ends are \n and
/// one at the end of the template is dropped. Source: Jinja2 3.1, lexer.py. TemplateError names the
/// line.
[[nodiscard]] std::vector<Token> cut_into_tokens(std::string_view source);

/// The text inside the quotes of a literal with its escapes resolved, as in Python.
[[nodiscard]] std::string resolve_escapes(std::string_view literal, i64 line);

}  // namespace sticky::chat
