#include "generation_config.hpp"

#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/regular_file.hpp"

namespace sticky::config {
namespace {

constexpr std::string_view kAskedBy = "sampling.defaults = \"model\"";

struct Name {
  const char* theirs;
  const char* ours;
};
constexpr std::array kTruncation = {
    Name{"temperature", "sampling.temperature"}, Name{"top_k", "sampling.top_k"},
    Name{"top_p", "sampling.top_p"}, Name{"min_p", "sampling.min_p"}};
constexpr std::array kAlways = {Name{"repetition_penalty", "sampling.repetition_penalty"},
                                Name{"max_new_tokens", "sampling.max_tokens"},
                                Name{"min_new_tokens", "sampling.min_tokens"}};

}  // namespace

std::vector<Entry> read_generation_config(const std::string& model,
                                          std::vector<Problem>& problems) {
  const std::string path = model + "/generation_config.json";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    problems.push_back(
        {"", fmt::format("{}: the model has no generation_config.json ({})", kAskedBy, model)});
    return {};
  }
  Json json;
  try {
    json = Json::parse(read_regular_file(path));
  } catch (const Error& error) {
    problems.push_back({path, fmt::format("{}: {}", kAskedBy, error.what())});
    return {};
  }
  if (!json.is_object()) {
    problems.push_back(
        {path, fmt::format("{}: expected an object, found {}", kAskedBy, json.kind_name())});
    return {};
  }
  std::vector<Entry> entries;
  const auto take = [&](const Name& name) {
    const Json* value = json.find(name.theirs);
    if (value != nullptr && !value->is_null()) entries.push_back({name.ours, *value, path});
  };
  for (const Name& name : kAlways)
    take(name);
  const Json* sample = json.find("do_sample");
  if (sample == nullptr || *sample != Json(true)) {
    entries.push_back({"sampling.temperature", Json(0.0), path});
    return entries;
  }
  for (const Name& name : kTruncation)
    take(name);
  return entries;
}

}  // namespace sticky::config
