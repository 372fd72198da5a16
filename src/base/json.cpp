#include "sticky/base/json.hpp"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "sticky/base/check.hpp"
#include "sticky/base/error.hpp"

#include "json_fast.hpp"
#include "json_members.hpp"

namespace sticky {

namespace {

// Builds a Json from the events of nlohmann's parser, which does not recurse, or says what is wrong
// with the text.
class Builder {
 public:
  Json take() { return std::move(root_); }

  // The names below are the library's.
  bool null() { return put(Json()); }
  bool boolean(bool value) { return put(Json(value)); }
  bool number_integer(i64 value) { return put(Json(value)); }
  bool number_unsigned(std::uint64_t value) {
    if (value <= static_cast<std::uint64_t>(INT64_MAX)) return put(Json(static_cast<i64>(value)));
    return put(Json(Json::Number{static_cast<double>(value), std::to_string(value)}));
  }
  bool number_float(double value, const std::string& text) {
    return put(Json(Json::Number{value, text}));
  }
  bool string(std::string& value) { return put(Json(std::move(value))); }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return false; }
  bool start_object(std::size_t /*n*/) { return open(Json(Json::Object{})); }
  bool start_array(std::size_t /*n*/) { return open(Json(Json::Array{})); }
  bool key(std::string& name) {
    open_.back()->as_object().push_back({std::move(name), Json()});
    return true;
  }
  bool end_object() {
    keep_last_of_doubles(open_.back()->as_object());
    open_.pop_back();
    return true;
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t at,
                   const std::string& /*last_token*/,
                   const nlohmann::json::exception& error) {
    // The library's sentence holds its own error number and position before the reason.
    std::string_view reason = error.what();
    if (const auto colon = reason.find(": "); colon != std::string_view::npos)
      reason.remove_prefix(colon + 2);
    fail<FormatError>("at byte {}: {}", at, reason);
  }

 private:
  bool put(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json container) {
    if (open_.size() == kMaxJsonDepth)
      fail<FormatError>("nested deeper than {} levels", kMaxJsonDepth);
    open_.push_back(place(std::move(container)));
    return true;
  }
  // Containers are filled in place: a pointer to the innermost stays good, since its parent grows
  // only after it was closed.
  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) return &parent.as_array().emplace_back(std::move(value));
    Json& member = parent.as_object().back().value;
    member = std::move(value);
    return &member;
  }

  Json root_;
  std::vector<Json*> open_;
};

}  // namespace

Json::Json(bool value) : value_(value) {}
Json::Json(i64 value) : value_(value) {}
Json::Json(int value) : value_(i64{value}) {}
Json::Json(double value) : value_(Number{value, {}}) {}
Json::Json(Number value) : value_(std::move(value)) {}
Json::Json(const char* value) : value_(std::string(value)) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
Json::Json(Array value) : value_(std::move(value)) {}
Json::Json(Object value) : value_(std::move(value)) {}

Json Json::object(std::initializer_list<std::pair<std::string, Json>> members) {
  Object object;
  object.reserve(members.size());
  for (const auto& [name, value] : members)
    object.push_back({name, value});
  return object;
}

Json Json::array(std::initializer_list<Json> elements) {
  return Array(elements);
}

Json Json::parse(std::string_view text) {
  if (auto json = parse_json_fast(text)) return *std::move(json);
  Builder builder;
  nlohmann::json::sax_parse(text, &builder);
  return builder.take();
}

const char* Json::kind_name() const {
  constexpr const char* kNames[] = {"null",     "a boolean", "an integer", "a number",
                                    "a string", "an array",  "an object"};
  return kNames[value_.index()];
}

bool Json::as_bool() const {
  STICKY_CHECK(is_bool());
  return *std::get_if<bool>(&value_);
}

i64 Json::as_integer() const {
  STICKY_CHECK(is_integer());
  return *std::get_if<i64>(&value_);
}

double Json::as_double() const {
  if (is_integer()) return static_cast<double>(as_integer());
  STICKY_CHECK(is_number());
  return std::get_if<Number>(&value_)->value;
}

const std::string& Json::as_string() const {
  STICKY_CHECK(is_string());
  return *std::get_if<std::string>(&value_);
}

const Json::Array& Json::as_array() const {
  STICKY_CHECK(is_array());
  return *std::get_if<Array>(&value_);
}

Json::Array& Json::as_array() {
  STICKY_CHECK(is_array());
  return *std::get_if<Array>(&value_);
}

const Json::Object& Json::as_object() const {
  STICKY_CHECK(is_object());
  return *std::get_if<Object>(&value_);
}

Json::Object& Json::as_object() {
  STICKY_CHECK(is_object());
  return *std::get_if<Object>(&value_);
}

std::string_view Json::number_text() const {
  const auto* number = std::get_if<Number>(&value_);
  return number != nullptr ? std::string_view(number->text) : std::string_view();
}

const Json* Json::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  const auto& members = as_object();
  const auto at = std::ranges::find(members, name, &Member::name);
  return at != members.end() ? &at->value : nullptr;
}

Json* Json::find(std::string_view name) {
  if (!is_object()) return nullptr;
  auto& members = as_object();
  const auto at = std::ranges::find(members, name, &Member::name);
  return at != members.end() ? &at->value : nullptr;
}

void Json::set(std::string_view name, Json value) {
  if (is_null()) value_ = Object{};
  if (Json* found = find(name); found != nullptr)
    *found = std::move(value);
  else
    as_object().push_back({std::string(name), std::move(value)});
}

void Json::erase(std::string_view name) {
  std::erase_if(as_object(), [&](const Member& member) { return member.name == name; });
}

void Json::push_back(Json value) {
  if (is_null()) value_ = Array{};
  as_array().push_back(std::move(value));
}

bool Json::operator==(const Json& other) const {
  if (is_number() && other.is_number()) {
    if (is_integer() && other.is_integer()) return as_integer() == other.as_integer();
    return as_double() == other.as_double();
  }
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::boolean:
      return as_bool() == other.as_bool();
    case Kind::string:
      return as_string() == other.as_string();
    case Kind::array:
      return as_array() == other.as_array();
    case Kind::object:
      return std::ranges::equal(
          as_object(), other.as_object(),
          [](const Member& a, const Member& b) { return a.name == b.name && a.value == b.value; });
    default:
      return true;
  }
}

}  // namespace sticky
