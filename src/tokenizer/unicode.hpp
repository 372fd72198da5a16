#pragma once

#include <string>
#include <string_view>

#include "sticky/base/types.hpp"

namespace sticky::tokenizer {

/// General category N (Nd, Nl, No), as Rust's char::is_numeric.
[[nodiscard]] bool is_numeric(char32_t code_point);
/// Property White_Space.
[[nodiscard]] bool is_white_space(char32_t code_point);
/// \w of UTS #18: Alphabetic, M, Nd, Pc, Join_Control.
[[nodiscard]] bool is_word(char32_t code_point);

/// ASCII punctuation or general category P.
[[nodiscard]] bool is_punctuation(char32_t code_point);
/// General category M.
[[nodiscard]] bool is_mark(char32_t code_point);
[[nodiscard]] bool is_nonspacing_mark(char32_t code_point);
/// General category C without unassigned ones: control, format, private use.
[[nodiscard]] bool is_other(char32_t code_point);
/// Appends the character in lower case by itself, as Rust's char::to_lowercase.
void append_lower(std::string& out, char32_t code_point);

/// The code point that ends just before byte `end` (> 0) of well-formed text.
[[nodiscard]] char32_t code_point_before(std::string_view text, i64 end);

enum class NormalForm : unsigned char { nfc, nfd, nfkc, nfkd };

/// Unicode normalisation (UAX #15) of well-formed text, appended to out. n log n in the longest run
/// of combining marks.
void append_normal_form(std::string_view text, NormalForm form, std::string& out);
/// Sure to be in that form already, by a look at its bytes alone.
[[nodiscard]] bool is_plainly_normal(std::string_view text, NormalForm form);

}  // namespace sticky::tokenizer
