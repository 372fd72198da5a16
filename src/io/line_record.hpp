#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sticky/base/types.hpp"

namespace sticky::io {

/// What a line without an id is called.
[[nodiscard]] std::string made_up_id(std::string_view file, i64 line);

/// Faults found by the reader itself, before a line could become a request.
constexpr std::string_view kInvalidJsonLine = "invalid_json_line";
constexpr std::string_view kLineTooLong = "line_too_long";
constexpr std::string_view kDuplicateId = "duplicate_custom_id";
constexpr std::string_view kInvalidRequest = "invalid_request";
constexpr std::string_view kIdParam = "custom_id";  ///< beside invalid_request

/// Whether an error is one of those; everything else is found later, by a worker.
[[nodiscard]] bool is_reader_fault(std::string_view code, std::string_view param);

}  // namespace sticky::io
