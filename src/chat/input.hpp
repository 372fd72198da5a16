#pragma once

#include "sticky/base/json.hpp"

#include "context.hpp"
#include "scope.hpp"

namespace sticky::chat {

/// The scope with the names of the input. Strings of messages and tools are marked as input, but
/// for roles that templates know.
[[nodiscard]] Scope* input_scope(Context& context, const RenderInput& input);

/// The first message with text of which no part was printed; -1 when there is none.
[[nodiscard]] i64 first_dropped(const Json& messages, const Text& output);

}  // namespace sticky::chat
