#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "value.hpp"

namespace sticky::chat {

/// A method of Python's str, list or dict.
struct Method {
  std::string_view name;
  Value (*call)(Context& context, const Value& self, Arguments& arguments);
};

/// value.name as something to call; nothing when its type has no such method.
[[nodiscard]] std::optional<Value> method_of(Context& context,
                                             const Value& value,
                                             std::string_view name);

[[nodiscard]] std::span<const Method> string_methods();
[[nodiscard]] std::span<const Method> search_methods();  ///< of strings too
[[nodiscard]] std::span<const Method> list_methods();
[[nodiscard]] std::span<const Method> dict_methods();

}  // namespace sticky::chat
