#include "sticky/base/utf8.hpp"

#include <algorithm>
#include <simdjson.h>

#include "sticky/base/check.hpp"

namespace sticky::utf8 {

namespace {

using Byte = unsigned char;

Byte at(std::string_view bytes, i64 i) {
  return static_cast<Byte>(bytes[static_cast<std::size_t>(i)]);
}

// What may stand behind a lead byte: how many bytes, and the range of the first of them (table 3-7;
// the others are 80..BF). n_more = -1: no lead byte.
struct Lead {
  int n_more;
  Byte low;
  Byte high;
};
constexpr Lead lead_of(Byte b) {
  if (b < 0x80) return {0, 0, 0};
  if (b >= 0xC2 && b <= 0xDF) return {1, 0x80, 0xBF};
  if (b == 0xE0) return {2, 0xA0, 0xBF};
  if (b == 0xED) return {2, 0x80, 0x9F};
  if (b >= 0xE1 && b <= 0xEF) return {2, 0x80, 0xBF};
  if (b == 0xF0) return {3, 0x90, 0xBF};
  if (b >= 0xF1 && b <= 0xF3) return {3, 0x80, 0xBF};
  if (b == 0xF4) return {3, 0x80, 0x8F};
  return {-1, 0, 0};
}

// The sequence that begins at `first`: its bytes as far as they fit together, and whether it is
// whole.
struct Sequence {
  i64 n_bytes;
  bool is_whole;
  bool may_grow;  ///< cut off by the end of the text only
};
Sequence sequence_at(std::string_view bytes, i64 first) {
  const Lead lead = lead_of(at(bytes, first));
  if (lead.n_more < 0) return {1, false, false};
  const i64 size = static_cast<i64>(bytes.size());
  for (int i = 1; i <= lead.n_more; ++i) {
    if (first + i >= size) return {i, false, true};
    const Byte b = at(bytes, first + i);
    const Byte low = i == 1 ? lead.low : Byte{0x80};
    const Byte high = i == 1 ? lead.high : Byte{0xBF};
    if (b < low || b > high) return {i, false, false};
  }
  return {lead.n_more + 1, true, false};
}

// Most text is ASCII.
i64 ascii_run(std::string_view bytes, i64 first) {
  const i64 size = static_cast<i64>(bytes.size());
  i64 i = first;
  while (i < size && at(bytes, i) < 0x80)
    ++i;
  return i - first;
}

}  // namespace

i64 first_invalid(std::string_view bytes) {
  // Most text is valid, and this only says whether, but at gigabytes a second.
  if (simdjson::validate_utf8(bytes.data(), bytes.size())) return -1;
  const i64 size = static_cast<i64>(bytes.size());
  for (i64 i = ascii_run(bytes, 0); i < size; i += ascii_run(bytes, i)) {
    const Sequence sequence = sequence_at(bytes, i);
    if (!sequence.is_whole) return i;
    i += sequence.n_bytes;
  }
  return -1;
}

i64 complete_prefix(std::string_view bytes) {
  const i64 size = static_cast<i64>(bytes.size());
  // A sequence that could still grow began at most three bytes before the end.
  for (i64 first = std::max<i64>(0, size - 3); first < size; ++first) {
    if (sequence_at(bytes, first).may_grow && first + sequence_at(bytes, first).n_bytes == size)
      return first;
  }
  return size;
}

std::string sanitize(std::string_view bytes) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string out;
  out.reserve(bytes.size());
  const i64 size = static_cast<i64>(bytes.size());
  for (i64 i = 0; i < size;) {
    const Sequence sequence = sequence_at(bytes, i);
    out += sequence.is_whole ? bytes.substr(static_cast<std::size_t>(i),
                                            static_cast<std::size_t>(sequence.n_bytes))
                             : kReplacement;
    i += sequence.n_bytes;
  }
  return out;
}

void append(std::string& out, char32_t code_point) {
  STICKY_CHECK(code_point <= 0x10FFFF && !(code_point >= 0xD800 && code_point <= 0xDFFF));
  const auto put = [&](char32_t bits) { out += static_cast<char>(static_cast<Byte>(bits)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

Decoded decode(std::string_view text, i64 first) {
  const i64 n_bytes = sequence_at(text, first).n_bytes;
  if (n_bytes == 1) return {at(text, first), 1};
  char32_t code_point = at(text, first) & (0xFFU >> (n_bytes + 1));
  for (i64 i = 1; i < n_bytes; ++i)
    code_point = code_point << 6 | (at(text, first + i) & 0x3FU);
  return {code_point, n_bytes};
}

}  // namespace sticky::utf8
