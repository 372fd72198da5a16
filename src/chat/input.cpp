#include "input.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "sticky/base/utf8.hpp"

#include "unicode.hpp"

namespace sticky::chat {

namespace {

// Without an origin, strings are the template's own.
using Origin = std::optional<i32>;

Text text_from(std::string_view bytes, Origin origin) {
  std::string valid = utf8::first_invalid(bytes) < 0 ? std::string(bytes) : utf8::sanitize(bytes);
  return origin ? Text::from_input(std::move(valid), *origin) : Text(std::move(valid));
}

// Python reads digits alone as an integer of any size.
bool is_whole_text(std::string_view text) {
  return !text.empty() && text.find_first_of(".eE") == std::string_view::npos;
}

Value number_from(Context& context, const Json& json) {
  const std::string_view text = json.number_text();
  if (!is_whole_text(text)) return json.as_double();
  return Number{json.as_double(), &context.make_text(std::string(text)).text()};
}

Value value_from(Context& context, const Json& json, Origin origin) {
  const Deeper deeper(context);
  switch (json.kind()) {
    case Json::Kind::null:
      return {};
    case Json::Kind::boolean:
      return json.as_bool();
    case Json::Kind::integer:
      return json.as_integer();
    case Json::Kind::number:
      return number_from(context, json);
    case Json::Kind::string:
      return context.make_text(text_from(json.as_string(), origin));
    case Json::Kind::array: {
      std::vector<Value> items;
      for (const Json& item : json.as_array())
        items.push_back(value_from(context, item, origin));
      return context.make_list(List::Form::list, std::move(items));
    }
    case Json::Kind::object:
      break;
  }
  Dict* dict = context.make<Dict>();
  context.spend_elements(static_cast<i64>(json.as_object().size()), sizeof(Dict::Entry));
  for (const auto& [name, value] : json.as_object())
    dict->entries.emplace_back(context.make_text(text_from(name, origin)),
                               value_from(context, value, origin));
  return dict;
}

bool is_known_role(std::string_view role) {
  static constexpr std::string_view kRoles[] = {"system",    "user",    "assistant", "tool",
                                                "developer", "ipython", "function"};
  return std::ranges::find(kRoles, role) != std::end(kRoles);
}

Value message_from(Context& context, const Json& message, i32 number) {
  const Value value = value_from(context, message, number);
  const Json* role = message.find("role");
  if (role == nullptr || !role->is_string()) return value;
  // A role is no content: that it was printed does not say that the message was.
  const Origin origin = is_known_role(role->as_string()) ? Origin() : Origin(kNoMessage);
  for (auto& [name, member] : value.dict().entries) {
    if (name.bytes() == "role") member = context.make_text(text_from(role->as_string(), origin));
  }
  return value;
}

Value messages_from(Context& context, const Json& messages) {
  if (!messages.is_array()) return value_from(context, messages, kNoMessage);
  std::vector<Value> items;
  for (const Json& message : messages.as_array())
    items.push_back(message_from(context, message, static_cast<i32>(items.size())));
  return context.make_list(List::Form::list, std::move(items));
}

bool has_text(const Json* json) {
  if (json == nullptr || !json->is_string()) return false;
  const std::string text = utf8::sanitize(json->as_string());
  return skip_space(text, 0) < static_cast<i64>(text.size());
}

// Text in the content, be it a string or a list of parts.
bool says_something(const Json& message) {
  const Json* content = message.find("content");
  if (content == nullptr || !content->is_array()) return has_text(content);
  return std::ranges::any_of(content->as_array(),
                             [](const Json& part) { return has_text(part.find("text")); });
}

}  // namespace

Scope* input_scope(Context& context, const RenderInput& input) {
  Scope* scope = context.make<Scope>(nullptr);
  if (!input.messages.is_null())
    scope->set(context, "messages", messages_from(context, input.messages));
  scope->set(context, "tools", value_from(context, input.tools, kNoMessage));
  scope->set(context, "documents", {});
  scope->set(context, "add_generation_prompt", input.add_generation_prompt);
  if (input.variables.is_object()) {
    for (const auto& [name, value] : input.variables.as_object())
      scope->set(context, name, value_from(context, value, {}));
  }
  return scope;
}

i64 first_dropped(const Json& messages, const Text& output) {
  if (!messages.is_array()) return -1;
  std::set<i64> printed;
  for (const Span& span : output.spans())
    printed.insert(span.origin);
  const auto& all = messages.as_array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (says_something(all[i]) && !printed.contains(static_cast<i64>(i)))
      return static_cast<i64>(i);
  }
  return -1;
}

}  // namespace sticky::chat
