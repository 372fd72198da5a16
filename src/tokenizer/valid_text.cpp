#include "valid_text.hpp"

#include <algorithm>

#include "sticky/base/utf8.hpp"

namespace sticky::tokenizer {

namespace {

std::string_view part(std::string_view text, i64 first, i64 end) {
  return text.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
}

// Whether the bytes are a character, or the first bytes of one.
bool begins_character(std::string_view bytes) {
  return utf8::complete_prefix(bytes) == 0 || utf8::first_invalid(bytes) < 0;
}

// The character, or the invalid subpart, that a cut before byte `at` would divide; no bytes at `at`
// when there is none.
ByteRange divided_by(std::string_view text, i64 at) {
  const i64 size = static_cast<i64>(text.size());
  const i64 first =
      utf8::complete_prefix(part(text, std::max<i64>(0, at - 3), at)) + std::max<i64>(0, at - 3);
  i64 end = at;
  if (first < at) {
    while (end < size && begins_character(part(text, first, end + 1)) && end - first < 4)
      ++end;
  }
  return end > at ? ByteRange{first, end - first} : ByteRange{at, 0};
}

}  // namespace

ValidText make_valid(std::string_view text, std::span<const ByteRange> content) {
  ValidText out;
  i64 done = 0;
  const auto advance = [&](i64 end) {
    if (end > done) {
      out.text += utf8::sanitize(part(text, done, end));
      done = end;
    }
    return static_cast<i64>(out.text.size());
  };
  for (const ByteRange& range : content) {
    const ByteRange head = divided_by(text, range.first);
    const ByteRange tail = divided_by(text, range.first + range.n);
    const i64 begins = advance(head.first);
    out.content.push_back({begins, advance(tail.first + tail.n) - begins});
  }
  advance(static_cast<i64>(text.size()));
  return out;
}

}  // namespace sticky::tokenizer
