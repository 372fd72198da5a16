#pragma once

#include <string>
#include <string_view>

#include "sticky/base/json.hpp"
#include "sticky/request/response.hpp"

namespace sticky::request {

/// 32 hexadecimal digits that are the same whenever this line of this file is answered.
[[nodiscard]] std::string record_digits(const Origin& origin);

/// The "sticky" member that results and errors share. With `has_timings` its timings too.
[[nodiscard]] Json sticky_part(const Origin& origin, bool has_timings);

/// The string, or null for an empty one.
[[nodiscard]] Json string_or_null(std::string_view text);

}  // namespace sticky::request
