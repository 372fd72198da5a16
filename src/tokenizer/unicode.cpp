#include "unicode.hpp"

#include <algorithm>
#include <array>
#include <utf8proc.h>
#include <vector>

#include "sticky/base/check.hpp"
#include "sticky/base/utf8.hpp"

namespace sticky::tokenizer {

namespace {

utf8proc_category_t category(char32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
}

int combining_class(utf8proc_int32_t code_point) {
  return utf8proc_get_property(code_point)->combining_class;
}

bool is_compatibility(NormalForm form) {
  return form == NormalForm::nfkc || form == NormalForm::nfkd;
}
bool composes(NormalForm form) {
  return form == NormalForm::nfc || form == NormalForm::nfkc;
}

// Full decomposition, each character by itself, marks not yet in order.
std::vector<utf8proc_int32_t> decompose(std::string_view text, NormalForm form) {
  const auto options = static_cast<utf8proc_option_t>(
      UTF8PROC_DECOMPOSE | (is_compatibility(form) ? UTF8PROC_COMPAT : 0));
  constexpr utf8proc_ssize_t kLongest = 32;  // U+FDFA becomes 18 characters
  std::vector<utf8proc_int32_t> out;
  out.reserve(text.size());
  std::array<utf8proc_int32_t, kLongest> parts{};
  for (i64 at = 0; at < static_cast<i64>(text.size());) {
    const auto [code_point, n_bytes] = utf8::decode(text, at);
    const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code_point), parts.data(),
                                           kLongest, options, nullptr);
    STICKY_CHECK(n >= 0 && n <= kLongest);
    out.insert(out.end(), parts.begin(), parts.begin() + n);
    at += n_bytes;
  }
  return out;
}

// Canonical ordering. utf8proc's own is quadratic in a run of marks, and texts are hostile.
void order_marks(std::vector<utf8proc_int32_t>& text) {
  const auto is_mark = [](utf8proc_int32_t c) { return combining_class(c) != 0; };
  for (auto first = text.begin();;) {
    first = std::find_if(first, text.end(), is_mark);
    if (first == text.end()) return;
    const auto last = std::find_if_not(first, text.end(), is_mark);
    std::stable_sort(first, last, [](utf8proc_int32_t a, utf8proc_int32_t b) {
      return combining_class(a) < combining_class(b);
    });
    first = last;
  }
}

}  // namespace

bool is_numeric(char32_t code_point) {
  if (code_point < 0x80) return code_point >= '0' && code_point <= '9';
  const auto c = category(code_point);
  return c == UTF8PROC_CATEGORY_ND || c == UTF8PROC_CATEGORY_NL || c == UTF8PROC_CATEGORY_NO;
}

bool is_white_space(char32_t code_point) {
  if (code_point < 0x80) return code_point == ' ' || (code_point >= 9 && code_point <= 13);
  return code_point == 0x85 || code_point == 0xA0 || code_point == 0x1680 ||
         (code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x2028 ||
         code_point == 0x2029 || code_point == 0x202F || code_point == 0x205F ||
         code_point == 0x3000;
}

bool is_word(char32_t code_point) {
  if (code_point == 0x200C || code_point == 0x200D) return true;
  // Letters by Other_Alphabetic that are neither marks nor letters: circled and squared ones.
  if ((code_point >= 0x24B6 && code_point <= 0x24E9) ||
      (code_point >= 0x1F130 && code_point <= 0x1F149) ||
      (code_point >= 0x1F150 && code_point <= 0x1F169) ||
      (code_point >= 0x1F170 && code_point <= 0x1F189))
    return true;
  switch (category(code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return false;
  }
}

bool is_punctuation(char32_t code_point) {
  if (code_point < 0x80) {
    return (code_point >= '!' && code_point <= '/') || (code_point >= ':' && code_point <= '@') ||
           (code_point >= '[' && code_point <= '`') || (code_point >= '{' && code_point <= '~');
  }
  const auto c = category(code_point);
  return c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_PO;
}

bool is_mark(char32_t code_point) {
  const auto c = category(code_point);
  return c >= UTF8PROC_CATEGORY_MN && c <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(char32_t code_point) {
  return category(code_point) == UTF8PROC_CATEGORY_MN;
}

bool is_other(char32_t code_point) {
  const auto c = category(code_point);
  return c >= UTF8PROC_CATEGORY_CC;
}

void append_lower(std::string& out, char32_t code_point) {
  // The one character that becomes two.
  constexpr char32_t kDottedI = 0x130;
  if (code_point == kDottedI) {
    out += "i\u0307";
  } else {
    utf8::append(
        out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code_point))));
  }
}

char32_t code_point_before(std::string_view text, i64 end) {
  i64 at = end - 1;
  while (at > 0 && (static_cast<unsigned char>(text[static_cast<std::size_t>(at)]) & 0xC0) == 0x80)
    --at;
  return utf8::decode(text, at).code_point;
}

void append_normal_form(std::string_view text, NormalForm form, std::string& out) {
  auto characters = decompose(text, form);
  order_marks(characters);
  auto n = static_cast<utf8proc_ssize_t>(characters.size());
  if (composes(form)) {
    n = utf8proc_normalize_utf32(
        characters.data(), n, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    STICKY_CHECK(n >= 0);
  }
  for (utf8proc_ssize_t i = 0; i < n; ++i)
    utf8::append(out, static_cast<char32_t>(characters[static_cast<std::size_t>(i)]));
}

bool is_plainly_normal(std::string_view text, NormalForm form) {
  // UAX #15: characters below U+0300 do not change under NFC; ASCII changes under none.
  const unsigned char limit = form == NormalForm::nfc ? 0xCC : 0x80;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return static_cast<unsigned char>(c) < limit; });
}

}  // namespace sticky::tokenizer
