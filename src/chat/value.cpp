#include "value.hpp"

#include <array>

#include "context.hpp"

namespace sticky::chat {

Kind Value::kind() const {
  static constexpr std::array kKinds = {Kind::none,    Kind::undefined, Kind::boolean,
                                        Kind::integer, Kind::number,    Kind::string,
                                        Kind::list,    Kind::dict,      Kind::object};
  return kKinds[form_.index()];
}

i64 Value::whole() const {
  return is(Kind::boolean) ? i64{boolean()} : std::get<i64>(form_);
}

double Value::number() const {
  return is(Kind::number) ? std::get<Number>(form_).value : static_cast<double>(whole());
}

const Text* Value::digits() const {
  return is(Kind::number) ? std::get<Number>(form_).digits : nullptr;
}

std::string_view Value::type_name() const {
  switch (kind()) {
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::number:
      return digits() == nullptr ? "float" : "int";
    case Kind::string:
      return "str";
    case Kind::dict:
      return "dict";
    case Kind::object:
      return object().type_name();
    case Kind::list:
      break;
  }
  static constexpr std::array kForms = {"list",      "tuple",       "tuple",      "range",
                                        "dict_keys", "dict_values", "dict_items", "generator"};
  return kForms[static_cast<std::size_t>(list().form)];
}

bool Value::is_true() const {
  switch (kind()) {
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
    case Kind::integer:
      return whole() != 0;
    case Kind::number:
      return number() != 0.0;
    case Kind::string:
      return !bytes().empty();
    case Kind::list:
      return list().size() > 0 || list().form == List::Form::generator;
    case Kind::dict:
      return dict().size() > 0;
    case Kind::object:
      break;
  }
  return true;
}

bool Value::is_same_object(const Value& other) const {
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::undefined:
      return &undefined() == &other.undefined();
    case Kind::none:
      return true;
    case Kind::boolean:
    case Kind::integer:
      return whole() == other.whole();
    case Kind::number:
      return number() == other.number();
    case Kind::string:
      return &text() == &other.text();
    case Kind::list:
      return &list() == &other.list();
    case Kind::dict:
      return &dict() == &other.dict();
    case Kind::object:
      break;
  }
  return &object() == &other.object();
}

const Value* Dict::find(std::string_view key) const {
  for (const auto& [name, value] : entries) {
    if (name.is_string() && name.bytes() == key) return &value;
  }
  return nullptr;
}

std::optional<Value> Object::attribute(Context&, std::string_view) {
  return std::nullopt;
}

Value Object::call(Context& context, Arguments&) {
  context.fail("'{}' object is not callable", type_name());
}

}  // namespace sticky::chat
