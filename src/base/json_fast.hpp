#pragma once

#include <optional>
#include <string_view>

#include "sticky/base/json.hpp"

namespace sticky {

/// Json::parse for nearly all lines, several times faster. Nothing where the text is no JSON,
/// nested too deep, or has something that simdjson 3.0 does not give as it stands: integers beyond
/// 64 bits, surrogate escapes, a mark of byte order, a document that is no object and no array. The
/// strict parser then reads it, or says what is wrong.
[[nodiscard]] std::optional<Json> parse_json_fast(std::string_view text);

}  // namespace sticky
