#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"

namespace sticky::request {

/// Thrown where a line is found wanting and caught in parse_request(): it never leaves this room.
struct Refusal {
  std::string code;
  std::string message;
  std::string param;
};

/// Refuses a parameter with `invalid_request`. `place` names it as the user wrote it, indices
/// included ("messages[2].role"); the message begins with it.
template <class... Args>
[[noreturn]] void refuse(std::string_view place, fmt::format_string<Args...> text, Args&&... args) {
  throw Refusal{"invalid_request",
                fmt::format("'{}' {}", place, fmt::format(text, std::forward<Args>(args)...)),
                std::string(place)};
}

/// A value as an error shows it: its JSON, cut after some 40 bytes.
[[nodiscard]] std::string shown(const Json& value);

// Each gives the value as that kind, or refuses it, naming what was found.
[[nodiscard]] bool boolean_at(std::string_view place, const Json& value);
[[nodiscard]] const std::string& string_at(std::string_view place, const Json& value);
[[nodiscard]] const Json::Array& array_at(std::string_view place, const Json& value);
[[nodiscard]] const Json::Object& object_at(std::string_view place, const Json& value);
/// A finite number.
[[nodiscard]] double number_at(std::string_view place, const Json& value);
/// An integer from `low` to `high`; 64.0 counts as 64, since tables in Python write it so.
[[nodiscard]] i64 integer_at(std::string_view place, const Json& value, i64 low, i64 high);
/// A token id: an integer from 0 to 2^31 - 1. Whether the model has it, only its worker knows.
[[nodiscard]] i32 token_id_at(std::string_view place, const Json& value);

}  // namespace sticky::request
