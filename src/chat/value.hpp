#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sticky/base/types.hpp"

#include "text.hpp"

namespace sticky::chat {

class Arguments;
class Context;

/// What a Context owns and frees when the rendering ends: values may point at each other in any
/// way, cycles included.
struct Cell {
  Cell() = default;
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;
  virtual ~Cell() = default;
};

struct TextCell : Cell {
  explicit TextCell(Text t) : text(std::move(t)) {}
  Text text;
};

/// Jinja's Undefined: prints as nothing, is false and empty; most other uses fail with `why`.
struct Undefined : Cell {
  explicit Undefined(std::string w) : why(std::move(w)) {}
  std::string why;
};

struct List;
struct Dict;
struct Object;

struct None {};

/// A Python float, or an integer too large for 64 bits that keeps its digits.
struct Number {
  double value = 0.0;
  const Text* digits = nullptr;
};

enum class Kind { undefined, none, boolean, integer, number, string, list, dict, object };

/// A value of a template: cheap to copy. What it points to belongs to the Context or the program.
class Value {
 public:
  Value() = default;                       ///< None
  Value(const Undefined* v) : form_(v) {}  // NOLINT(google-explicit-constructor)
  Value(bool v) : form_(v) {}              // NOLINT(google-explicit-constructor)
  Value(i64 v) : form_(v) {}               // NOLINT(google-explicit-constructor)
  Value(double v) : form_(Number{v}) {}    // NOLINT(google-explicit-constructor)
  Value(Number v) : form_(v) {}            // NOLINT(google-explicit-constructor)
  Value(const Text* v) : form_(v) {}       // NOLINT(google-explicit-constructor)
  Value(List* v) : form_(v) {}             // NOLINT(google-explicit-constructor)
  Value(Dict* v) : form_(v) {}             // NOLINT(google-explicit-constructor)
  Value(Object* v) : form_(v) {}           // NOLINT(google-explicit-constructor)

  [[nodiscard]] Kind kind() const;
  [[nodiscard]] bool is(Kind k) const { return kind() == k; }
  [[nodiscard]] bool is_undefined() const { return is(Kind::undefined); }
  [[nodiscard]] bool is_none() const { return is(Kind::none); }
  [[nodiscard]] bool is_string() const { return is(Kind::string); }
  /// True and False count as numbers, as in Python.
  [[nodiscard]] bool is_whole() const { return is(Kind::integer) || is(Kind::boolean); }
  [[nodiscard]] bool is_numeric() const { return is_whole() || is(Kind::number); }

  [[nodiscard]] const Undefined& undefined() const { return *std::get<const Undefined*>(form_); }
  [[nodiscard]] bool boolean() const { return std::get<bool>(form_); }
  [[nodiscard]] i64 whole() const;      ///< of an integer or boolean
  [[nodiscard]] double number() const;  ///< of any numeric value
  [[nodiscard]] const Text* digits() const;
  [[nodiscard]] const Text& text() const { return *std::get<const Text*>(form_); }
  [[nodiscard]] const std::string& bytes() const { return text().bytes(); }
  [[nodiscard]] List& list() const { return *std::get<List*>(form_); }
  [[nodiscard]] Dict& dict() const { return *std::get<Dict*>(form_); }
  [[nodiscard]] Object& object() const { return *std::get<Object*>(form_); }

  /// Python's name of the type: "str", "NoneType", "dict".
  [[nodiscard]] std::string_view type_name() const;
  /// Python's bool(value).
  [[nodiscard]] bool is_true() const;
  [[nodiscard]] bool is_same_object(const Value& other) const;

 private:
  // The order is that of Kind, but for None, the default.
  std::variant<None, const Undefined*, bool, i64, Number, const Text*, List*, Dict*, Object*> form_;
};

struct List : Cell {
  /// What Python has there. A generator is true, has no length, no elements by number, and gives
  /// its values once.
  enum class Form { list, tuple, group, range, keys, values, items, generator };

  explicit List(Form f, std::vector<Value> v = {}) : form(f), items(std::move(v)) {}
  [[nodiscard]] i64 size() const { return static_cast<i64>(items.size()); }
  [[nodiscard]] bool is_tuple() const { return form == Form::tuple || form == Form::group; }
  [[nodiscard]] bool has_elements() const {
    return form == Form::list || form == Form::range || is_tuple();
  }

  Form form;
  std::vector<Value> items;
};

struct Dict : Cell {
  using Entry = std::pair<Value, Value>;

  [[nodiscard]] i64 size() const { return static_cast<i64>(entries.size()); }
  [[nodiscard]] const Value* find(std::string_view key) const;

  std::vector<Entry> entries;  ///< in order of insertion
};

/// Functions, methods, macros, namespaces, loops.
struct Object : Cell {
  [[nodiscard]] virtual std::string_view type_name() const = 0;
  [[nodiscard]] virtual std::optional<Value> attribute(Context& context, std::string_view name);
  [[nodiscard]] virtual bool is_callable() const { return false; }
  virtual Value call(Context& context, Arguments& arguments);
};

}  // namespace sticky::chat
