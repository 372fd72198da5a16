#include "json_members.hpp"

#include <string_view>
#include <unordered_map>
#include <utility>

namespace sticky {

namespace {

void drop_doubles(Json::Object& object) {
  std::unordered_map<std::string_view, std::size_t> seen;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < object.size(); ++i) {
    const auto [at, is_new] = seen.try_emplace(object[i].name, kept);
    if (!is_new) {
      object[at->second].value = std::move(object[i].value);
      continue;
    }
    if (kept != i) {
      seen.erase(at);  // its key pointed into the member that moves now
      object[kept] = std::move(object[i]);
      seen.emplace(object[kept].name, kept);
    }
    ++kept;
  }
  object.resize(kept);
}

bool has_doubles(const Json::Object& object) {
  // Few members, as nearly always: comparing beats hashing.
  constexpr std::size_t kFew = 16;
  if (object.size() > kFew) return true;
  for (std::size_t i = 0; i < object.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (object[i].name == object[j].name) return true;
  return false;
}

}  // namespace

void keep_last_of_doubles(Json::Object& object) {
  if (has_doubles(object)) drop_doubles(object);
}

}  // namespace sticky
