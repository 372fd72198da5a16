#pragma once

#include <string>
#include <string_view>

#include "sticky/base/types.hpp"

namespace sticky::utf8 {

/// First byte that is not part of well-formed UTF-8 (Unicode 15, table 3-7), or -1 when all is
/// well.
[[nodiscard]] i64 first_invalid(std::string_view bytes);

/// Length of the longest prefix that needs no further byte: everything up to a trailing sequence
/// that could still become a character. Invalid bytes count as complete.
[[nodiscard]] i64 complete_prefix(std::string_view bytes);

/// Each maximal invalid subpart replaced by U+FFFD, as WHATWG and Python's errors="replace" do.
[[nodiscard]] std::string sanitize(std::string_view bytes);

/// Appends one code point; surrogates and values above U+10FFFF are a bug of the caller.
void append(std::string& out, char32_t code_point);

/// The code point at `at` and its length; the text must be well-formed there.
struct Decoded {
  char32_t code_point = 0;
  i64 n_bytes = 0;
};
[[nodiscard]] Decoded decode(std::string_view text, i64 at);

}  // namespace sticky::utf8
