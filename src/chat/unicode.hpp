#pragma once

#include <string>
#include <string_view>

#include "sticky/base/types.hpp"

namespace sticky::chat {

/// Python's str.isspace for one character.
[[nodiscard]] bool is_space(char32_t c);
/// Python's str.isprintable for one character.
[[nodiscard]] bool is_printable(char32_t c);
[[nodiscard]] bool is_upper(char32_t c);
[[nodiscard]] bool is_lower(char32_t c);
/// Appends the character in another case (simple mapping, and ß becomes SS as in Python).
void append_upper(std::string& out, char32_t c);
void append_lower(std::string& out, char32_t c);

/// Characters (code points) of well-formed text.
[[nodiscard]] i64 count_characters(std::string_view text);
/// Byte at which character number n begins; the size of the text when it has fewer.
[[nodiscard]] i64 byte_of_character(std::string_view text, i64 n);
/// First byte behind the white space that begins at byte `from`.
[[nodiscard]] i64 skip_space(std::string_view text, i64 from);
/// End of the text without its trailing white space; not below `from`.
[[nodiscard]] i64 end_without_space(std::string_view text, i64 from);

}  // namespace sticky::chat
