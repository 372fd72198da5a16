#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/tokenizer/tokenizer.hpp"

namespace sticky::tokenizer {

/// A text as UTF-8 and the content ranges in it.
struct ValidText {
  std::string text;
  std::vector<ByteRange> content;
};

/// Each maximal invalid subpart of `text` replaced by U+FFFD; the ranges follow. A border of a
/// range within a character moves outwards.
[[nodiscard]] ValidText make_valid(std::string_view text, std::span<const ByteRange> content);

}  // namespace sticky::tokenizer
