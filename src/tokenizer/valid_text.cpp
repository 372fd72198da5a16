#include "valid_text.hpp"

#include "sticky/base/utf8.hpp"

namespace sticky::tokenizer {

namespace {

bool is_continuation(std::string_view text, i64 at) {
  return (static_cast<unsigned char>(text[static_cast<std::size_t>(at)]) & 0xC0) == 0x80;
}

}  // namespace

// No character and no invalid subpart goes on over a byte that is no continuation byte: there the
// text can be cut without changing what becomes of either half.
ValidText make_valid(std::string_view text, std::span<const ByteRange> content) {
  ValidText out;
  const i64 size = static_cast<i64>(text.size());
  i64 done = 0;
  const auto advance = [&](i64 end) {
    if (end > done) {
      out.text += utf8::sanitize(
          text.substr(static_cast<std::size_t>(done), static_cast<std::size_t>(end - done)));
      done = end;
    }
    return static_cast<i64>(out.text.size());
  };
  for (const ByteRange& range : content) {
    i64 first = range.first;
    i64 end = range.first + range.n;
    while (first > done && first < size && is_continuation(text, first))
      --first;
    while (end > first && end < size && is_continuation(text, end))
      ++end;
    const i64 begins = advance(first);
    out.content.push_back({begins, advance(end) - begins});
  }
  advance(size);
  return out;
}

}  // namespace sticky::tokenizer
