#include "refusal.hpp"

#include <cmath>
#include <limits>

#include "sticky/base/utf8.hpp"

namespace sticky::request {

std::string shown(const Json& value) {
  constexpr std::size_t kMaxBytes = 40;
  // Only the beginning is shown, so a long string is not copied whole.
  if (value.is_string() && value.as_string().size() > kMaxBytes) {
    const auto start = std::string_view(value.as_string()).substr(0, kMaxBytes);
    const auto whole = start.substr(0, static_cast<std::size_t>(utf8::complete_prefix(start)));
    std::string out;
    append_json_string(out, whole);
    return out + "…";
  }
  const std::string text = value.dump();
  if (text.size() <= kMaxBytes) return text;
  const auto start = std::string_view(text).substr(0, kMaxBytes);
  return std::string(start.substr(0, static_cast<std::size_t>(utf8::complete_prefix(start)))) + "…";
}

bool boolean_at(std::string_view place, const Json& value) {
  if (!value.is_bool()) refuse(place, "must be true or false, found {}", shown(value));
  return value.as_bool();
}

const std::string& string_at(std::string_view place, const Json& value) {
  if (!value.is_string()) refuse(place, "must be a string, found {}", shown(value));
  return value.as_string();
}

const Json::Array& array_at(std::string_view place, const Json& value) {
  if (!value.is_array()) refuse(place, "must be an array, found {}", shown(value));
  return value.as_array();
}

const Json::Object& object_at(std::string_view place, const Json& value) {
  if (!value.is_object()) refuse(place, "must be an object, found {}", shown(value));
  return value.as_object();
}

double number_at(std::string_view place, const Json& value) {
  if (!value.is_number() || !std::isfinite(value.as_double()))
    refuse(place, "must be a finite number, found {}", shown(value));
  return value.as_double();
}

i64 integer_at(std::string_view place, const Json& value, i64 low, i64 high) {
  constexpr double kExactLimit = 0x1p53;  // beyond it a double no longer tells integers apart
  i64 found = 0;
  if (value.is_integer()) {
    found = value.as_integer();
  } else if (value.is_number() && std::abs(value.as_double()) <= kExactLimit &&
             std::trunc(value.as_double()) == value.as_double()) {
    found = static_cast<i64>(value.as_double());
  } else {
    refuse(place, "must be an integer, found {}", shown(value));
  }
  if (found >= low && found <= high) return found;
  if (high == std::numeric_limits<i64>::max())
    refuse(place, "must be {} or more, found {}", low, found);
  refuse(place, "must be from {} to {}, found {}", low, high, found);
}

i32 token_id_at(std::string_view place, const Json& value) {
  if (!value.is_integer()) refuse(place, "must be a token id (an integer), found {}", shown(value));
  const i64 id = value.as_integer();
  if (id < 0 || id > std::numeric_limits<i32>::max())
    refuse(place, "must be a token id from 0 to {}, found {}", std::numeric_limits<i32>::max(), id);
  return static_cast<i32>(id);
}

}  // namespace sticky::request
