#include "stop_matcher.hpp"

#include <algorithm>
#include <utility>

namespace sticky::engine {

StopMatcher::StopMatcher(std::vector<std::string> strings, bool includes)
    : strings_(std::move(strings)),
      includes_(includes) {
  std::erase(strings_, "");
}

std::optional<i64> StopMatcher::find(std::string_view text, i64 n_old) const {
  std::optional<std::pair<i64, i64>> first;  // begin, end
  for (const std::string& s : strings_) {
    const auto n = static_cast<i64>(s.size());
    const auto found = text.find(s, static_cast<std::size_t>(std::max(n_old - n + 1, i64{0})));
    if (found == std::string_view::npos) continue;
    const auto begin = static_cast<i64>(found);
    const std::pair match{begin, begin + n};
    if (!first || match < *first) first = match;
  }
  if (!first) return std::nullopt;
  return includes_ ? first->second : first->first;
}

}  // namespace sticky::engine
