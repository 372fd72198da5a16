#include <charconv>

#include "sticky/base/utf8.hpp"

#include "context.hpp"
#include "lexer.hpp"

namespace sticky::chat {

namespace {

struct NamedEscape {
  char letter;
  char byte;
};
constexpr NamedEscape kNamed[] = {{'n', '\n'}, {'t', '\t'},  {'r', '\r'}, {'\\', '\\'},
                                  {'"', '"'},  {'\'', '\''}, {'a', '\a'}, {'b', '\b'},
                                  {'f', '\f'}, {'v', '\v'}};

i64 n_hex_digits(char letter) {
  switch (letter) {
    case 'x':
      return 2;
    case 'u':
      return 4;
    case 'U':
      return 8;
    default:
      return 0;
  }
}

char32_t code_point(std::string_view digits, int base, i64 line) {
  std::uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end != digits.data() + digits.size() || value > 0x10FFFF ||
      (value >= 0xD800 && value <= 0xDFFF))
    fail_at(line, fmt::format("'\\…{}' in a string is no character", digits));
  return value;
}

// Appends what the escape behind the backslash at the front of `rest` stands for; its length
// without the backslash.
std::size_t resolve_one(std::string& out, std::string_view rest, i64 line) {
  const char letter = rest[0];
  for (const auto& named : kNamed) {
    if (named.letter == letter) {
      out += named.byte;
      return 1;
    }
  }
  if (letter == '\n') return 1;
  if (const i64 n = n_hex_digits(letter); n > 0) {
    const auto digits = rest.substr(1, static_cast<std::size_t>(n));
    if (static_cast<i64>(digits.size()) < n)
      fail_at(line, fmt::format("'\\{}' in a string needs {} hexadecimal digits", letter, n));
    utf8::append(out, code_point(digits, 16, line));
    return 1 + digits.size();
  }
  if (letter >= '0' && letter <= '7') {
    std::size_t n = 1;
    while (n < 3 && n < rest.size() && rest[n] >= '0' && rest[n] <= '7')
      ++n;
    utf8::append(out, code_point(rest.substr(0, n), 8, line));
    return n;
  }
  if (letter == 'N') fail_at(line, "characters by name (\\N{…}) are not supported");
  out += '\\';  // Python keeps an unknown escape as it stands
  return 0;
}

}  // namespace

std::string resolve_escapes(std::string_view literal, i64 line) {
  std::string out;
  std::size_t at = 0;
  while (at < literal.size()) {
    if (literal[at] == '\\' && at + 1 < literal.size()) {
      at += 1 + resolve_one(out, literal.substr(at + 1), line);
    } else {
      out += literal[at++];
    }
  }
  return out;
}

}  // namespace sticky::chat
