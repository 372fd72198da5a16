#include "toml_file.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "sticky/base/error.hpp"
#include "sticky/base/regular_file.hpp"

namespace sticky::config {
namespace {

Json to_json(const toml::node& node);

Json array_to_json(const toml::array& array) {
  Json out = Json::array();
  for (const toml::node& element : array)
    out.push_back(to_json(element));
  return out;
}

Json table_to_json(const toml::table& table) {
  Json out = Json::object();
  for (const auto& [key, value] : table)
    out.set(key.str(), to_json(value));
  return out;
}

// Dates and times have no key that wants them: they become their text.
Json to_json(const toml::node& node) {
  if (const auto* table = node.as_table()) return table_to_json(*table);
  if (const auto* array = node.as_array()) return array_to_json(*array);
  if (const auto text = node.value_exact<std::string>()) return Json(*text);
  if (const auto flag = node.value_exact<bool>()) return Json(*flag);
  if (const auto integer = node.value_exact<i64>()) return Json(*integer);
  if (const auto number = node.value_exact<double>()) return Json(*number);
  std::ostringstream text;
  node.visit([&text](const auto& value) { text << value; });
  return Json(text.str());
}

struct Leaf {
  std::string key;
  Json value;
  toml::source_index line = 0;
};

void flatten(const toml::table& table, const std::string& prefix, std::vector<Leaf>& out) {
  for (const auto& [key, value] : table) {
    const std::string name = prefix + std::string(key.str());
    const toml::table* inner = value.as_table();
    if (inner == nullptr) {
      out.push_back({name, to_json(value), key.source().begin.line});
      continue;
    }
    out.push_back({name, Json::object(), key.source().begin.line});
    flatten(*inner, name + ".", out);
  }
}

// In the order of the file: toml++ sorts keys by name, people read from top to bottom.
std::vector<Entry> entries_of(const toml::table& table, const std::string& path) {
  std::vector<Leaf> leaves;
  flatten(table, "", leaves);
  std::ranges::stable_sort(leaves, {}, &Leaf::line);
  std::vector<Entry> entries;
  for (auto& leaf : leaves)
    entries.push_back({leaf.key, std::move(leaf.value), fmt::format("{}:{}", path, leaf.line)});
  return entries;
}

}  // namespace

std::vector<Entry> read_toml(const std::string& path, std::vector<Problem>& problems) {
  std::string text;
  try {
    text = read_regular_file(path);
  } catch (const SystemError& error) {
    problems.push_back({"job file", error.what()});
    return {};
  }
  try {
    return entries_of(toml::parse(text, path), path);
  } catch (const toml::parse_error& error) {
    problems.push_back({fmt::format("{}:{}", path, error.source().begin.line),
                        fmt::format("not valid TOML: {}", error.description())});
    return {};
  }
}

}  // namespace sticky::config
