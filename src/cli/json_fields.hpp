#pragma once

#include <string>
#include <string_view>

#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"

namespace sticky::cli {

// Members of an object in a file that another process wrote, perhaps of another version: one that
// is missing or of another kind is zero, empty or false.
[[nodiscard]] i64 integer_at(const Json& object, std::string_view name);
[[nodiscard]] double number_at(const Json& object, std::string_view name);
[[nodiscard]] std::string text_at(const Json& object, std::string_view name);
[[nodiscard]] bool boolean_at(const Json& object, std::string_view name);
/// The elements of an array; empty when there is none.
[[nodiscard]] const Json::Array& array_at(const Json& object, std::string_view name);

/// Who is told of by an element of "losses": "worker 3", or "a newcomer" where none came.
[[nodiscard]] std::string lost_name_in(const Json& loss);

}  // namespace sticky::cli
