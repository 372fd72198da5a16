#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "context.hpp"

namespace sticky::chat {

/// namespace(): the one object whose attributes a template can set.
struct Namespace final : Object {
  [[nodiscard]] std::string_view type_name() const override { return "Namespace"; }
  [[nodiscard]] std::optional<Value> attribute(Context& context, std::string_view name) override;
  void set(Context& context, std::string_view name, const Value& value);

  std::vector<std::pair<std::string, Value>> members;
};

/// range, dict, namespace, cycler, joiner, raise_exception, strftime_now; nothing for other names.
[[nodiscard]] std::optional<Value> global_function(Context& context, std::string_view name);

/// `now` (ISO 8601, its offset ignored; empty: the present local time) by C's strftime in the C
/// locale; %f gives microseconds, %z and %Z nothing, as for a Python datetime without zone.
[[nodiscard]] std::string format_time(const Context& context,
                                      const std::string& now,
                                      std::string_view format);

}  // namespace sticky::chat
