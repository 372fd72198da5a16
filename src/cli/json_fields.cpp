#include "json_fields.hpp"

#include <fmt/format.h>

namespace sticky::cli {

i64 integer_at(const Json& object, std::string_view name) {
  const Json* member = object.find(name);
  return member != nullptr && member->is_integer() ? member->as_integer() : 0;
}

double number_at(const Json& object, std::string_view name) {
  const Json* member = object.find(name);
  return member != nullptr && member->is_number() ? member->as_double() : 0.0;
}

std::string text_at(const Json& object, std::string_view name) {
  const Json* member = object.find(name);
  return member != nullptr && member->is_string() ? member->as_string() : "";
}

bool boolean_at(const Json& object, std::string_view name) {
  const Json* member = object.find(name);
  return member != nullptr && member->is_bool() && member->as_bool();
}

const Json::Array& array_at(const Json& object, std::string_view name) {
  static const Json::Array kNone;
  const Json* member = object.find(name);
  return member != nullptr && member->is_array() ? member->as_array() : kNone;
}

std::string lost_name_in(const Json& loss) {
  const Json* worker = loss.find("worker");
  const bool has_come = worker != nullptr && worker->is_integer() && worker->as_integer() >= 0;
  return has_come ? fmt::format("worker {}", worker->as_integer()) : "a newcomer";
}

}  // namespace sticky::cli
