#pragma once

#include <optional>
#include <vector>

#include "context.hpp"

namespace sticky::chat {

/// What sort, map, groupby … look at in each element: "a.b.0" of it, or all of it. Source: Jinja2
/// 3.1, make_attrgetter.
class ElementKey {
 public:
  /// None: the element itself. ignores_case: strings in lower case.
  ElementKey(Context& context,
             const Value& attribute,
             bool ignores_case = false,
             std::optional<Value> preset = {});
  [[nodiscard]] Value of(const Value& element) const;

 private:
  Context& context_;
  std::vector<Value> path_;
  bool ignores_case_;
  std::optional<Value> preset_;  // for what is undefined
};

}  // namespace sticky::chat
