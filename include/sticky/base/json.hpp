#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky {

/// A JSON value (RFC 8259). Objects keep their order; a name that stands twice keeps the last
/// value, as Python does. Numbers that are not 64-bit integers keep their text, so that passing a
/// value on changes nothing.
class Json {
 public:
  enum class Kind { null, boolean, integer, number, string, array, object };
  struct Number {
    double value = 0.0;
    std::string text;  ///< as it stood in the file; empty for a computed number
  };
  using Array = std::vector<Json>;
  struct Member;
  using Object = std::vector<Member>;

  Json() = default;
  Json(bool value);              // NOLINT(google-explicit-constructor): values read like literals
  Json(i64 value);               // NOLINT(google-explicit-constructor)
  Json(int value);               // NOLINT(google-explicit-constructor)
  Json(double value);            // NOLINT(google-explicit-constructor)
  Json(Number value);            // NOLINT(google-explicit-constructor)
  Json(const char* value);       // NOLINT(google-explicit-constructor)
  Json(std::string value);       // NOLINT(google-explicit-constructor)
  Json(std::string_view value);  // NOLINT(google-explicit-constructor)
  Json(Array value);             // NOLINT(google-explicit-constructor)
  Json(Object value);            // NOLINT(google-explicit-constructor)
  [[nodiscard]] static Json object(
      std::initializer_list<std::pair<std::string, Json>> members = {});
  [[nodiscard]] static Json array(std::initializer_list<Json> elements = {});

  /// Parses one whole document. Throws FormatError with the byte position ("at byte 17: …"); text
  /// that is not UTF-8 and unpaired surrogate escapes are errors. No recursion on nesting depth up
  /// to 512 levels; deeper is an error.
  [[nodiscard]] static Json parse(std::string_view text);

  /// Compact JSON on one line. Strings are written as UTF-8, invalid bytes as U+FFFD; a number that
  /// is not finite is written as null.
  [[nodiscard]] std::string dump() const;
  void dump_to(std::string& out) const;
  /// The same with two blanks of indent a level, for files that people read.
  [[nodiscard]] std::string dump_pretty() const;

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(value_.index()); }
  [[nodiscard]] bool is_null() const { return kind() == Kind::null; }
  [[nodiscard]] bool is_bool() const { return kind() == Kind::boolean; }
  [[nodiscard]] bool is_integer() const { return kind() == Kind::integer; }
  [[nodiscard]] bool is_number() const { return is_integer() || kind() == Kind::number; }
  [[nodiscard]] bool is_string() const { return kind() == Kind::string; }
  [[nodiscard]] bool is_array() const { return kind() == Kind::array; }
  [[nodiscard]] bool is_object() const { return kind() == Kind::object; }
  /// "null", "a boolean", "an integer", "a number", "a string", "an array", "an object".
  [[nodiscard]] const char* kind_name() const;

  // The value as its kind; another kind is a bug of the caller (STICKY_CHECK).
  [[nodiscard]] bool as_bool() const;
  [[nodiscard]] i64 as_integer() const;
  [[nodiscard]] double as_double() const;  ///< integers too
  [[nodiscard]] const std::string& as_string() const;
  [[nodiscard]] const Array& as_array() const;
  [[nodiscard]] Array& as_array();
  [[nodiscard]] const Object& as_object() const;
  [[nodiscard]] Object& as_object();
  /// The text of a number that stood in a file, empty otherwise.
  [[nodiscard]] std::string_view number_text() const;

  /// The member of that name; null when there is none or this is no object.
  [[nodiscard]] const Json* find(std::string_view name) const;
  [[nodiscard]] Json* find(std::string_view name);
  /// Sets or appends a member of an object (null becomes an object).
  void set(std::string_view name, Json value);
  /// Removes a member if it is there.
  void erase(std::string_view name);
  void push_back(Json value);  ///< to an array (null becomes an array)

  bool operator==(const Json& other) const;

 private:
  std::variant<std::monostate, bool, i64, Number, std::string, Array, Object> value_;
};

struct Json::Member {
  std::string name;
  Json value;
};

/// `text` as a JSON string literal with its quotes, appended to out. Invalid UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace sticky
