#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sticky/base/types.hpp"

namespace sticky {

/// The noun as its count wants it: "worker" for 1, "workers" for all others. `several` where that
/// is not the noun with an s.
[[nodiscard]] inline std::string noun_for(i64 n,
                                          std::string_view one,
                                          std::string_view several = "") {
  if (n == 1) return std::string(one);
  return several.empty() ? fmt::format("{}s", one) : std::string(several);
}

/// "1 worker", "2 workers".
[[nodiscard]] inline std::string counted(i64 n,
                                         std::string_view one,
                                         std::string_view several = "") {
  return fmt::format("{} {}", n, noun_for(n, one, several));
}

}  // namespace sticky
