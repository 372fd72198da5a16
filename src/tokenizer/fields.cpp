#include "fields.hpp"

#include <algorithm>

namespace sticky::tokenizer {

Fields::Fields(const Json& value, std::string where) : value_(&value), where_(std::move(where)) {
  if (!value.is_object())
    fail<FormatError>("{} is {}, but should be an object", where_, value.kind_name());
}

std::string Fields::at(std::string_view name) const {
  return fmt::format("{}.{}", where_, name);
}

const Json* Fields::find(std::string_view name) const {
  const Json* found = value_->find(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

const Json& Fields::required(std::string_view name) const {
  const Json* found = find(name);
  if (found == nullptr) fail<FormatError>("{} is missing", at(name));
  return *found;
}

const std::string& Fields::text(std::string_view name) const {
  return text_of(required(name), at(name));
}

i64 Fields::integer(std::string_view name, i64 low, i64 high) const {
  return integer_of(required(name), low, high, at(name));
}

const Json::Array& Fields::array(std::string_view name) const {
  return array_of(required(name), at(name));
}

bool Fields::flag(std::string_view name, bool missing) const {
  const Json* found = find(name);
  if (found == nullptr) return missing;
  if (!found->is_bool())
    fail<FormatError>("{} is {}, but should be a boolean", at(name), found->kind_name());
  return found->as_bool();
}

std::optional<std::string> Fields::optional_text(std::string_view name) const {
  const Json* found = find(name);
  if (found == nullptr) return std::nullopt;
  return text_of(*found, at(name));
}

void Fields::expect_only(std::initializer_list<std::string_view> names) const {
  for (const auto& [name, value] : value_->as_object()) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail<FormatError>("{} is an option that is not understood", at(name));
  }
}

const std::string& text_of(const Json& value, const std::string& where) {
  if (!value.is_string())
    fail<FormatError>("{} is {}, but should be a string", where, value.kind_name());
  return value.as_string();
}

i64 integer_of(const Json& value, i64 low, i64 high, const std::string& where) {
  if (!value.is_integer())
    fail<FormatError>("{} is {}, but should be an integer", where, value.kind_name());
  if (value.as_integer() < low || value.as_integer() > high) {
    fail<FormatError>("{} is {}, but should be from {} to {}", where, value.as_integer(), low,
                      high);
  }
  return value.as_integer();
}

const Json::Array& array_of(const Json& value, const std::string& where) {
  if (!value.is_array())
    fail<FormatError>("{} is {}, but should be an array", where, value.kind_name());
  return value.as_array();
}

}  // namespace sticky::tokenizer
