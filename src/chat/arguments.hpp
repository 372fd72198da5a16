#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "context.hpp"
#include "value.hpp"

namespace sticky::chat {

/// The arguments of one call. The function takes them in the order of its parameters; what is left
/// then is an error of the caller.
class Arguments {
 public:
  std::vector<Value> positional;
  std::vector<std::pair<std::string_view, Value>> named;

  /// The next positional argument, or else the one of that name.
  std::optional<Value> take(std::string_view name);
  Value take_or(std::string_view name, Value preset) { return take(name).value_or(preset); }
  Value need(const Context& context, std::string_view name);
  bool take_flag(std::string_view name, bool preset) { return take_or(name, preset).is_true(); }
  i64 take_integer(const Context& context, std::string_view name, i64 preset);

  /// What is left, all of it.
  std::vector<Value> take_positional();
  void check_all_taken(const Context& context, std::string_view function) const;

 private:
  std::size_t n_taken_ = 0;  // of the positional ones
};

}  // namespace sticky::chat
