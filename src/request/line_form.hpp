#pragma once

#include <string_view>

#include "sticky/base/json.hpp"
#include "sticky/request/request.hpp"

namespace sticky::request {

constexpr std::string_view kChatUrl = "/v1/chat/completions";
constexpr std::string_view kCompletionsUrl = "/v1/completions";

/// OpenAI's batch line, or a shorthand line? A table may well have a column "url" or "body", so a
/// line with "prompt" or "messages" is shorthand unless both "url" and an object "body" are there.
[[nodiscard]] bool is_batch_line(const Json& line);

/// The endpoint of a shorthand line; nothing when it has neither "prompt" nor "messages" or both.
[[nodiscard]] std::optional<Endpoint> shorthand_endpoint(const Json& line);

/// Whether a member of a line, outside a body, is a column of the user's (and goes to the row).
[[nodiscard]] bool is_column(const Json& line, bool is_batch, std::string_view name);

}  // namespace sticky::request
