#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "sticky/base/error.hpp"
#include "sticky/base/json.hpp"

namespace sticky::tokenizer {

/// The members of a JSON object, with errors that say where: file, then path to the object. Holds
/// on to the value; both must outlive it.
class Fields {
 public:
  /// FormatError unless the value is an object.
  Fields(const Json& value, std::string where);

  [[nodiscard]] const std::string& where() const { return where_; }
  /// The path to a member.
  [[nodiscard]] std::string at(std::string_view name) const;

  /// Null counts as missing.
  [[nodiscard]] const Json* find(std::string_view name) const;
  [[nodiscard]] const Json& required(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] i64 integer(std::string_view name, i64 low, i64 high) const;
  [[nodiscard]] const Json::Array& array(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name, bool missing) const;
  [[nodiscard]] std::optional<std::string> optional_text(std::string_view name) const;

  /// FormatError when there is a member of another name: an option that is not understood.
  void expect_only(std::initializer_list<std::string_view> names) const;

 private:
  const Json* value_;
  std::string where_;
};

/// The value as its kind; FormatError with `where` otherwise.
[[nodiscard]] const std::string& text_of(const Json& value, const std::string& where);
[[nodiscard]] i64 integer_of(const Json& value, i64 low, i64 high, const std::string& where);
[[nodiscard]] const Json::Array& array_of(const Json& value, const std::string& where);

}  // namespace sticky::tokenizer
