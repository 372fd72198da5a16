#include "arguments.hpp"

namespace sticky::chat {

std::optional<Value> Arguments::take(std::string_view name) {
  if (n_taken_ < positional.size()) return positional[n_taken_++];
  for (auto it = named.begin(); it != named.end(); ++it) {
    if (it->first != name) continue;
    const Value value = it->second;
    named.erase(it);
    return value;
  }
  return std::nullopt;
}

Value Arguments::need(const Context& context, std::string_view name) {
  const auto value = take(name);
  if (!value) context.fail("the argument '{}' is missing", name);
  return *value;
}

i64 Arguments::take_integer(const Context& context, std::string_view name, i64 preset) {
  const Value value = take_or(name, preset);
  if (!value.is_whole())
    context.fail("the argument '{}' is {}, expected an integer", name, value.type_name());
  return value.whole();
}

std::vector<Value> Arguments::take_positional() {
  std::vector<Value> rest(positional.begin() + static_cast<std::ptrdiff_t>(n_taken_),
                          positional.end());
  n_taken_ = positional.size();
  return rest;
}

void Arguments::check_all_taken(const Context& context, std::string_view function) const {
  if (n_taken_ < positional.size())
    context.fail("{} got {} arguments, {} too many", function, positional.size(),
                 positional.size() - n_taken_);
  if (!named.empty()) context.fail("{} has no parameter '{}'", function, named.front().first);
}

}  // namespace sticky::chat
