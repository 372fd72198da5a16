#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sticky::tokenizer {

/// The printable character that stands for a byte in byte-level vocabularies: printable ones of
/// Latin-1 stand for themselves, the others are U+0100, U+0101, … in ascending order.
/// Source: bytes_to_unicode() of GPT-2's encoder.
[[nodiscard]] char32_t byte_character(unsigned char byte);

/// The bytes that a piece of such a vocabulary stands for; nothing when it contains a character
/// that stands for no byte.
[[nodiscard]] std::optional<std::string> bytes_of_piece(std::string_view piece);

}  // namespace sticky::tokenizer
