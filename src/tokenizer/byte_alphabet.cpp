#include "byte_alphabet.hpp"

#include <array>

#include "sticky/base/utf8.hpp"

namespace sticky::tokenizer {

namespace {

constexpr bool stands_for_itself(unsigned b) {
  return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
}

constexpr std::array<char16_t, 256> kCharacters = [] {
  std::array<char16_t, 256> out{};
  unsigned next = 0x100;
  for (unsigned b = 0; b < 256; ++b)
    out[b] = static_cast<char16_t>(stands_for_itself(b) ? b : next++);
  return out;
}();

// The inverse; -1 where a character stands for no byte. The last one that does is U+0143.
constexpr std::array<short, 0x144> kBytes = [] {
  std::array<short, 0x144> out{};
  out.fill(-1);
  for (unsigned b = 0; b < 256; ++b)
    out[kCharacters[b]] = static_cast<short>(b);
  return out;
}();

}  // namespace

char32_t byte_character(unsigned char byte) {
  return kCharacters[byte];
}

std::optional<std::string> bytes_of_piece(std::string_view piece) {
  std::string out;
  for (i64 at = 0; at < static_cast<i64>(piece.size());) {
    const auto [code_point, n_bytes] = utf8::decode(piece, at);
    if (code_point >= kBytes.size() || kBytes[code_point] < 0) return std::nullopt;
    out += static_cast<char>(kBytes[code_point]);
    at += n_bytes;
  }
  return out;
}

}  // namespace sticky::tokenizer
