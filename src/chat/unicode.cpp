#include "unicode.hpp"

#include <utf8proc.h>

#include "sticky/base/utf8.hpp"

namespace sticky::chat {

namespace {

bool is_continuation(char b) {
  return (static_cast<unsigned char>(b) & 0xC0) == 0x80;
}

utf8proc_int32_t number_of(char32_t c) {
  return static_cast<utf8proc_int32_t>(c);
}

}  // namespace

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_printable(char32_t c) {
  if (c < 0x80) return c >= 0x20 && c != 0x7F;
  switch (utf8proc_category(number_of(c))) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

bool is_upper(char32_t c) {
  return utf8proc_category(number_of(c)) == UTF8PROC_CATEGORY_LU;
}
bool is_lower(char32_t c) {
  return utf8proc_category(number_of(c)) == UTF8PROC_CATEGORY_LL;
}

void append_upper(std::string& out, char32_t c) {
  if (c == U'ß') {
    out += "SS";
    return;
  }
  utf8::append(out, static_cast<char32_t>(utf8proc_toupper(number_of(c))));
}

void append_lower(std::string& out, char32_t c) {
  utf8::append(out, static_cast<char32_t>(utf8proc_tolower(number_of(c))));
}

i64 count_characters(std::string_view text) {
  i64 n = 0;
  for (const char b : text)
    n += is_continuation(b) ? 0 : 1;
  return n;
}

i64 byte_of_character(std::string_view text, i64 n) {
  i64 at = 0;
  const i64 size = static_cast<i64>(text.size());
  for (; at < size; ++at) {
    if (!is_continuation(text[static_cast<std::size_t>(at)]) && n-- == 0) break;
  }
  return at;
}

i64 skip_space(std::string_view text, i64 from) {
  const i64 size = static_cast<i64>(text.size());
  while (from < size) {
    const auto c = utf8::decode(text, from);
    if (!is_space(c.code_point)) break;
    from += c.n_bytes;
  }
  return from;
}

i64 end_without_space(std::string_view text, i64 from) {
  i64 end = static_cast<i64>(text.size());
  while (end > from) {
    i64 first = end - 1;
    while (first > from && is_continuation(text[static_cast<std::size_t>(first)]))
      --first;
    if (!is_space(utf8::decode(text, first).code_point)) break;
    end = first;
  }
  return end;
}

}  // namespace sticky::chat
