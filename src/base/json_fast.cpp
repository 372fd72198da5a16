#include "json_fast.hpp"

#include <simdjson.h>
#include <string>
#include <utility>

#include "json_members.hpp"

namespace sticky {

namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kUsualBytes = 1U << 16U;

// simdjson 3.0 takes a lone low surrogate for a character. Both cases of the hexadecimal digit.
bool may_have_surrogates(std::string_view text) {
  for (auto at = text.find("\\u"); at != std::string_view::npos; at = text.find("\\u", at + 2))
    if (at + 2 < text.size() && (text[at + 2] == 'd' || text[at + 2] == 'D')) return true;
  return false;
}

// Reads value after value: simdjson checks what it is asked for, and only that, so every value is
// asked for. Each step is false where the text is to be left to the strict parser.
class Reader {
 public:
  // Value is a document or a value within one.
  template <class Value>
  bool read(Value& value, Json& out) {
    ondemand::json_type type{};
    if (value.type().get(type) != simdjson::SUCCESS) return false;
    switch (type) {
      case ondemand::json_type::object:
        return nest([&] { return read_object(value, out); });
      case ondemand::json_type::array:
        return nest([&] { return read_array(value, out); });
      default:
        return read_scalar(value, type, out);
    }
  }

 private:
  template <class Step>
  bool nest(Step step) {
    if (depth_ == kMaxJsonDepth) return false;
    ++depth_;
    const bool is_read = step();
    --depth_;
    return is_read;
  }

  template <class Value>
  bool read_object(Value& value, Json& out) {
    ondemand::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) return false;
    Json::Object members;
    for (auto field : object) {
      std::string_view name;
      if (field.unescaped_key().get(name) != simdjson::SUCCESS) return false;
      members.push_back({std::string(name), Json()});
      ondemand::value inner;
      if (field.value().get(inner) != simdjson::SUCCESS) return false;
      if (!read(inner, members.back().value)) return false;
    }
    keep_last_of_doubles(members);
    out = std::move(members);
    return true;
  }

  template <class Value>
  bool read_array(Value& value, Json& out) {
    ondemand::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS) return false;
    Json::Array elements;
    for (auto element : array) {
      ondemand::value inner;
      if (element.get(inner) != simdjson::SUCCESS) return false;
      if (!read(inner, elements.emplace_back())) return false;
    }
    out = std::move(elements);
    return true;
  }

  // A document that is a scalar is left to the strict parser.
  static bool read_scalar(ondemand::document& /*value*/,
                          ondemand::json_type /*type*/,
                          Json& /*out*/) {
    return false;
  }

  static bool read_scalar(ondemand::value& value, ondemand::json_type type, Json& out) {
    if (type == ondemand::json_type::number) return read_number(value, out);
    bool truth = false;
    if (type == ondemand::json_type::null)
      return value.is_null().get(truth) == simdjson::SUCCESS && truth;
    if (type == ondemand::json_type::boolean) {
      if (value.get_bool().get(truth) != simdjson::SUCCESS) return false;
      out = Json(truth);
      return true;
    }
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS) return false;
    out = Json(text);
    return true;
  }

  static bool read_number(ondemand::value& value, Json& out) {
    std::string_view token = value.raw_json_token();
    ondemand::number number;
    if (value.get_number().get(number) != simdjson::SUCCESS) return false;
    if (number.is_int64()) {
      out = Json(i64{number.get_int64()});
      return true;
    }
    if (!number.is_double()) return false;
    token = token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
    out = Json(Json::Number{number.get_double(), std::string(token)});
    return true;
  }

  int depth_ = 0;
};

std::optional<Json> parse_with(ondemand::parser& parser, std::string_view text) {
  const simdjson::padded_string padded(text);
  ondemand::document document;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return std::nullopt;
  Json json;
  if (!Reader().read(document, json)) return std::nullopt;
  const char* rest = nullptr;
  if (document.current_location().get(rest) != simdjson::OUT_OF_BOUNDS) return std::nullopt;
  return json;
}

}  // namespace

std::optional<Json> parse_json_fast(std::string_view text) {
  if (may_have_surrogates(text)) return std::nullopt;
  if (text.size() <= kUsualBytes) {
    thread_local ondemand::parser usual;  // its buffers are worth as much time as a line
    return parse_with(usual, text);
  }
  ondemand::parser parser;
  return parse_with(parser, text);
}

}  // namespace sticky
