#include "config_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "sticky/base/error.hpp"

namespace sticky::model {

namespace {

constexpr std::string_view kCount = "must be an integer from 1 to 2147483647";
constexpr std::string_view kNumber = "must be a finite number";

bool is_neutral(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::null:
      return true;
    case Json::Kind::boolean:
      return !value.as_bool();
    case Json::Kind::string:
      return value.as_string().empty();
    case Json::Kind::array:
      return value.as_array().empty();
    case Json::Kind::object:
      return value.as_object().empty();
    default:
      return false;
  }
}

// For a message.
std::string start_of(const Json& value) {
  std::string text = value.dump();
  return text.size() > 200 ? text.substr(0, 200) + "…" : text;
}

std::optional<i32> token_id(const Json& value) {
  if (!value.is_integer() || value.as_integer() < 0 ||
      value.as_integer() > std::numeric_limits<i32>::max())
    return std::nullopt;
  return static_cast<i32>(value.as_integer());
}

}  // namespace

ConfigReader::ConfigReader(const Json& config, std::string where, std::string prefix)
    : config_(config),
      where_(std::move(where)),
      prefix_(std::move(prefix)) {
  if (!config_.is_object())
    fail<FormatError>("{} is {}, but must be an object", where_, start_of(config_));
}

const Json* ConfigReader::find(std::string_view key) {
  const std::string name = prefix_ + std::string(key);
  read_.insert(name);
  const Json* value = config_.find(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool ConfigReader::is_null(std::string_view key) const {
  const Json* value = config_.find(prefix_ + std::string(key));
  return value != nullptr && value->is_null();
}

void ConfigReader::reject(std::string_view key,
                          const Json& found,
                          std::string_view expected) const {
  fail<FormatError>("{}: {}{} is {}, but {}", where_, prefix_, key, start_of(found), expected);
}

const Json& ConfigReader::require(std::string_view key, std::string_view expected) {
  const Json* value = find(key);
  if (value == nullptr)
    fail<FormatError>("{}: {}{} is missing; it {}", where_, prefix_, key, expected);
  return *value;
}

i64 ConfigReader::count(std::string_view key) {
  const Json& value = require(key, kCount);
  if (!value.is_integer() || value.as_integer() < 1 ||
      value.as_integer() > std::numeric_limits<i32>::max())
    reject(key, value, kCount);
  return value.as_integer();
}

i64 ConfigReader::count_or(std::string_view key, i64 otherwise) {
  return find(key) == nullptr ? otherwise : count(key);
}

std::optional<i64> ConfigReader::count_unless_null(std::string_view key, i64 otherwise) {
  const i64 value = count_or(key, otherwise);
  return is_null(key) ? std::nullopt : std::optional(value);
}

double ConfigReader::number(std::string_view key) {
  const Json& value = require(key, kNumber);
  if (!value.is_number() || !std::isfinite(value.as_double())) reject(key, value, kNumber);
  return value.as_double();
}

double ConfigReader::number_or(std::string_view key, double otherwise) {
  return find(key) == nullptr ? otherwise : number(key);
}

std::optional<double> ConfigReader::number_unless_null(std::string_view key, double otherwise) {
  const double value = number_or(key, otherwise);
  return is_null(key) ? std::nullopt : std::optional(value);
}

std::vector<double> ConfigReader::positive_numbers(std::string_view key, i64 n) {
  const std::string expected = fmt::format("must be a list of {} positive numbers", n);
  const Json& list = require(key, expected);
  if (!list.is_array() || static_cast<i64>(list.as_array().size()) != n)
    reject(key, list, expected);
  std::vector<double> values;
  for (const Json& value : list.as_array()) {
    if (!value.is_number() || !std::isfinite(value.as_double()) || value.as_double() <= 0.0)
      reject(key, list, expected);
    values.push_back(value.as_double());
  }
  return values;
}

bool ConfigReader::flag_or(std::string_view key, bool otherwise) {
  const Json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_bool()) reject(key, *value, "must be true or false");
  return value->as_bool();
}

std::string ConfigReader::text_or(std::string_view key, std::string_view otherwise) {
  const Json* value = find(key);
  if (value == nullptr) return std::string(otherwise);
  if (!value->is_string()) reject(key, *value, "must be a string");
  return value->as_string();
}

std::vector<i32> ConfigReader::ids(std::string_view key) {
  const Json* value = find(key);
  std::vector<i32> ids;
  if (value == nullptr) return ids;
  const auto add = [&](const Json& element) {
    const auto id = token_id(element);
    if (!id) reject(key, *value, "must be a token id or a list of them");
    ids.push_back(*id);
  };
  if (value->is_array())
    std::ranges::for_each(value->as_array(), add);
  else
    add(*value);
  return ids;
}

void ConfigReader::accept_any(std::initializer_list<std::string_view> keys) {
  for (const auto key : keys)
    read_.insert(prefix_ + std::string(key));
}

void ConfigReader::refuse_unread(std::span<const std::string_view> words) const {
  for (const auto& [key, value] : config_.as_object()) {
    if (!key.starts_with(prefix_) || read_.contains(key) || is_neutral(value)) continue;
    const auto has = [&](std::string_view word) { return key.find(word) != std::string::npos; };
    if (std::ranges::any_of(words, has)) {
      reject(std::string_view(key).substr(prefix_.size()), value,
             "this program does not know what that changes");
    }
  }
}

void ConfigReader::refuse_all_unread() const {
  refuse_unread(std::array<std::string_view, 1>{""});  // in every key
}

}  // namespace sticky::model
