#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky::config {

/// Insertions, deletions, replacements and swaps of neighbours that make one of the other (optimal
/// string alignment distance).
[[nodiscard]] i64 edit_distance(std::string_view a, std::string_view b);

/// The candidate that `key` was most likely meant to be; empty when none is near. A key in the
/// wrong section ("engine.temperature") finds the one of the same last part.
[[nodiscard]] std::string nearest(std::string_view key, const std::vector<std::string>& candidates);

}  // namespace sticky::config
