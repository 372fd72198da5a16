#include "nearest.hpp"

#include <algorithm>

namespace sticky::config {
namespace {

std::string_view last_part(std::string_view key) {
  const auto dot = key.rfind('.');
  return dot == std::string_view::npos ? key : key.substr(dot + 1);
}

}  // namespace

i64 edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<i64> d((a.size() + 1) * width);
  for (std::size_t j = 0; j < width; ++j)
    d[j] = static_cast<i64>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    d[i * width] = static_cast<i64>(i);
    for (std::size_t j = 1; j < width; ++j) {
      const i64 replaced = d[(i - 1) * width + j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      i64 best = std::min({replaced, d[(i - 1) * width + j] + 1, d[i * width + j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = std::min(best, d[(i - 2) * width + j - 2] + 1);
      d[i * width + j] = best;
    }
  }
  return d.back();
}

std::string nearest(std::string_view key, const std::vector<std::string>& candidates) {
  // A third of the letters may be wrong; with more, a guess confuses more than it helps.
  i64 best = std::max<i64>(2, static_cast<i64>(key.size() + 2) / 3) + 1;
  std::string found;
  for (const auto& candidate : candidates) {
    i64 distance = edit_distance(key, candidate);
    if (last_part(key) == last_part(candidate)) distance = std::min<i64>(distance, 2);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

}  // namespace sticky::config
