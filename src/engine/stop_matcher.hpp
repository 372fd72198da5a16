#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky::engine {

/// Finds the first of several strings in a text that grows token by token.
class StopMatcher {
 public:
  /// `includes`: the string found stays in the text. Empty strings are never found.
  StopMatcher(std::vector<std::string> strings, bool includes);

  /// Where the text is to be cut, in bytes, when a string ends behind its first n_old bytes: before
  /// (or behind) the match that begins first; of those, the shortest. Strings that end earlier were
  /// the business of earlier calls.
  [[nodiscard]] std::optional<i64> find(std::string_view text, i64 n_old) const;

 private:
  std::vector<std::string> strings_;
  bool includes_;
};

}  // namespace sticky::engine
