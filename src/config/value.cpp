#include "value.hpp"

#include <algorithm>
#include <charconv>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sticky/base/error.hpp"
#include "sticky/base/iso_time.hpp"

#include "quantity.hpp"

namespace sticky::config {
namespace {

template <class... Fs>
struct Overload : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overload(Fs...) -> Overload<Fs...>;

std::string quoted(const std::vector<std::string_view>& words) {
  std::vector<std::string> out;
  out.reserve(words.size());
  for (const auto word : words)
    out.push_back(fmt::format("\"{}\"", word));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string bound(Kind kind, double value) {
  switch (kind) {
    case Kind::duration:
      return format_duration(value);
    case Kind::size:
      return format_size(static_cast<i64>(value));
    default:
      return fmt::format("{}", value);
  }
}

std::string limits_text(const Type& type) {
  constexpr auto kNone = std::numeric_limits<std::size_t>::max();
  std::string text;
  if (type.max_items != kNone) text += fmt::format(", at most {} of them", type.max_items);
  if (type.max_bytes != kNone) text += fmt::format(", each of at most {} bytes", type.max_bytes);
  return text;
}

std::string range_text(const Type& type) {
  const bool has_min = type.min > std::numeric_limits<double>::lowest();
  const bool has_max = type.max < std::numeric_limits<double>::max();
  if (has_min && has_max)
    return fmt::format(" from {} to {}", bound(type.kind, type.min), bound(type.kind, type.max));
  if (has_min) return fmt::format(" of at least {}", bound(type.kind, type.min));
  return has_max ? fmt::format(" of at most {}", bound(type.kind, type.max)) : "";
}

const char* noun(Kind kind) {
  switch (kind) {
    case Kind::boolean:
      return "true or false";
    case Kind::integer:
      return "an integer";
    case Kind::number:
      return "a number";
    case Kind::text:
      return "a string without zero bytes";
    case Kind::time:
      return "a date or time of ISO 8601 (\"2026-01-15\", \"2026-01-15T12:30:00\"), or \"\"";
    case Kind::texts:
      return "a list of strings, none of them empty";
    case Kind::integers:
      return "a list of integers";
    case Kind::duration:
      return "a duration (\"90s\", \"5m\", \"1h30m\")";
    case Kind::size:
      return "a size (\"64MiB\", \"2GB\")";
    case Kind::choice:
    case Kind::fixed:
      return "one of ";
    case Kind::later:
      return "nothing yet";
  }
  return "";
}

// A number, duration or size in its base unit; nothing when the value is of another kind.
std::optional<double> magnitude(Kind kind, const Json& value) {
  if (value.is_integer() || (value.is_number() && kind != Kind::integer)) return value.as_double();
  if (!value.is_string()) return std::nullopt;
  if (kind == Kind::duration) return parse_duration(value.as_string());
  if (kind == Kind::size) {
    const auto n_bytes = parse_size(value.as_string());
    return n_bytes ? std::optional(static_cast<double>(*n_bytes)) : std::nullopt;
  }
  return std::nullopt;
}

std::string expected(const Type& type) {
  return ": expected " + describe(type);
}

bool store_magnitude(const Type& type, const Json& value, Field field) {
  const auto found = magnitude(type.kind, value);
  if (!found || !(*found >= type.min && *found <= type.max)) return false;
  // An integer is taken as it stands: a double would round beyond 2^53.
  const i64 whole = value.is_integer() ? value.as_integer() : static_cast<i64>(*found);
  std::visit(Overload{[&](i64* to) { *to = whole; }, [&](double* to) { *to = *found; },
                      [&](std::uint64_t* to) { *to = static_cast<std::uint64_t>(whole); },
                      [&](std::optional<i64>* to) { *to = whole; }, [](auto) {}},
             field);
  return true;
}

void store_special(const Type& type, Field field) {
  std::visit(Overload{[&](i64* to) { *to = static_cast<i64>(type.special_value); },
                      [&](double* to) { *to = type.special_value; },
                      [](std::optional<i64>* to) { to->reset(); },
                      [](std::string* to) { to->clear(); }, [](auto) {}},
             field);
}

bool store_time(const Json& value, Field field) {
  if (!value.is_string()) return false;
  if (!value.as_string().empty() && !parse_iso_time(value.as_string())) return false;
  *std::get<std::string*>(field) = value.as_string();
  return true;
}

bool store_texts(const Type& type, const Json& value, Field field) {
  if (!value.is_array() || value.as_array().size() > type.max_items) return false;
  std::vector<std::string> texts;
  for (const Json& element : value.as_array()) {
    if (!element.is_string() || element.as_string().empty()) return false;
    if (element.as_string().size() > type.max_bytes) return false;
    texts.push_back(element.as_string());
  }
  *std::get<std::vector<std::string>*>(field) = std::move(texts);
  return true;
}

bool store_integers(const Type& type, const Json& value, Field field) {
  if (!value.is_array() || value.as_array().size() > type.max_items) return false;
  std::vector<i32> integers;
  for (const Json& element : value.as_array()) {
    if (!element.is_integer() || element.as_double() < type.min || element.as_double() > type.max)
      return false;
    integers.push_back(static_cast<i32>(element.as_integer()));
  }
  *std::get<std::vector<i32>*>(field) = std::move(integers);
  return true;
}

bool store_word(const Type& type, const Json& value, Field field) {
  if (!value.is_string()) return false;
  const auto found = std::ranges::find(type.words, value.as_string());
  if (found == type.words.end()) return false;
  const auto position = found - type.words.begin();
  std::visit(
      Overload{[&](std::string* to) { *to = *found; }, [&](bool* to) { *to = position != 0; },
               [&](io::Order* to) { *to = static_cast<io::Order>(position); }, [](auto) {}},
      field);
  return true;
}

std::string word_of(const Json& value) {
  if (value.is_string()) return value.as_string();
  return value.is_bool() ? (value.as_bool() ? "true" : "false") : value.dump();
}

bool store_plain(const Type& type, const Json& value, Field field) {
  switch (type.kind) {
    case Kind::boolean:
      if (!value.is_bool()) return false;
      *std::get<bool*>(field) = value.as_bool();
      return true;
    case Kind::text:
      // The system would read a path only up to a zero byte.
      if (!value.is_string() || value.as_string().find('\0') != std::string::npos) return false;
      *std::get<std::string*>(field) = value.as_string();
      return true;
    case Kind::time:
      return store_time(value, field);
    case Kind::texts:
      return store_texts(type, value, field);
    case Kind::integers:
      return store_integers(type, value, field);
    case Kind::choice:
      return store_word(type, value, field);
    default:
      return store_magnitude(type, value, field);
  }
}

// "[1, 2]" or "1,2"; nothing is no list, "[]" is the empty one.
Json list_of_text(const Type& type, std::string_view text) {
  if (text.empty()) return Json(text);
  if (text.starts_with('[')) {
    try {
      return Json::parse(text);
    } catch (const FormatError&) {
      return Json(text);
    }
  }
  const Type element{.kind = type.kind == Kind::texts ? Kind::text : Kind::integer};
  Json out = Json::array();
  while (!text.empty()) {
    const auto comma = text.find(',');
    out.push_back(value_of_text(element, text.substr(0, comma)));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return out;
}

Json number_of_text(std::string_view text) {
  i64 whole = 0;
  double number = 0.0;
  const char* last = text.data() + text.size();
  if (const auto r = std::from_chars(text.data(), last, whole);
      r.ec == std::errc{} && r.ptr == last)
    return Json(whole);
  if (const auto r = std::from_chars(text.data(), last, number);
      r.ec == std::errc{} && r.ptr == last)
    return Json(number);
  return Json(text);
}

Json show_magnitude(const Type& type, double value) {
  if (!type.special.empty() && value == type.special_value) return Json(type.special);
  if (type.kind == Kind::duration) return Json(format_duration(value));
  return Json(value);
}

Json show_integer(const Type& type, i64 value) {
  if (!type.special.empty() && static_cast<double>(value) == type.special_value)
    return Json(type.special);
  return type.kind == Kind::size ? Json(format_size(value)) : Json(value);
}

}  // namespace

std::string describe(const Type& type) {
  std::string text = type.special.empty() ? "" : fmt::format("\"{}\" or ", type.special);
  text += noun(type.kind);
  if (type.kind == Kind::choice || type.kind == Kind::fixed) return text + quoted(type.words);
  return text + range_text(type) + limits_text(type);
}

Json value_of_text(const Type& type, std::string_view text) {
  switch (type.kind) {
    case Kind::boolean:
      if (text == "true" || text == "false") return Json(text == "true");
      return Json(text);
    case Kind::integer:
    case Kind::number:
    case Kind::duration:
    case Kind::size:
      return number_of_text(text);
    case Kind::texts:
    case Kind::integers:
      return list_of_text(type, text);
    default:
      if (text.size() >= 2 && text.starts_with('"') && text.ends_with('"'))
        text = text.substr(1, text.size() - 2);
      return Json(text);
  }
}

std::optional<std::string> store(const Type& type, const Json& value, Field field) {
  const std::string word = word_of(value);
  if (type.kind == Kind::later) return " is not built yet";
  if (type.kind == Kind::fixed) {
    if (word == type.words[0]) return std::nullopt;
    return fmt::format(" is not built yet; so far: \"{}\"", type.words[0]);
  }
  if (std::ranges::find(type.later_words, word) != type.later_words.end())
    return fmt::format(" is not built yet; so far: {}", quoted(type.words));
  if (!type.special.empty() && value.is_string() && word == type.special) {
    store_special(type, field);
    return std::nullopt;
  }
  // Most often an unset variable: it must not stand for the word.
  if (type.kind == Kind::text && !type.special.empty() && word.empty())
    return fmt::format(" is empty; \"{}\" is the default", type.special);
  if (store_plain(type, value, field)) return std::nullopt;
  return expected(type);
}

Json show(const Type& type, Field field) {
  return std::visit(
      Overload{
          [&](std::monostate) { return type.kind == Kind::later ? Json() : Json(type.words[0]); },
          [&](const bool* v) {
            return type.kind == Kind::choice ? Json(type.words[*v ? 1 : 0]) : Json(*v);
          },
          [&](const i64* v) { return show_integer(type, *v); },
          [&](const double* v) { return show_magnitude(type, *v); },
          [&](const std::uint64_t* v) { return Json(static_cast<i64>(*v)); },
          [&](const std::string* v) {
            return v->empty() && !type.special.empty() ? Json(type.special) : Json(*v);
          },
          [&](const std::optional<i64>* v) { return *v ? Json(**v) : Json(type.special); },
          [&](const std::vector<std::string>* v) {
            return Json(Json::Array(v->begin(), v->end()));
          },
          [&](const std::vector<i32>* v) {
            Json out = Json::array();
            for (const i32 element : *v)
              out.push_back(Json(i64{element}));
            return out;
          },
          [&](const io::Order* v) { return Json(type.words[static_cast<std::size_t>(*v)]); }},
      field);
}

}  // namespace sticky::config
