#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fields.hpp"

namespace sticky::tokenizer {

/// Calls add(component) for each; `list` is the name that a Sequence gives to its members.
/// Sequences within sequences are walked by a stack of their own.
template <class Add>
void for_each_component(const Json& json,
                        const std::string& where,
                        std::string_view list,
                        Add add) {
  if (json.is_null()) return;
  std::vector<Fields> waiting{Fields(json, where)};
  while (!waiting.empty()) {
    const Fields component = std::move(waiting.back());
    waiting.pop_back();
    if (component.text("type") != "Sequence") {
      add(component);
      continue;
    }
    component.expect_only({"type", list});
    const Json::Array& members = component.array(list);
    for (auto i = static_cast<i64>(members.size()) - 1; i >= 0; --i) {
      waiting.emplace_back(members[static_cast<std::size_t>(i)],
                           fmt::format("{}[{}]", component.at(list), i));
    }
  }
}

[[noreturn]] inline void refuse(const Fields& component) {
  fail<FormatError>("{} is of type {}, which is not understood", component.where(),
                    component.text("type"));
}

}  // namespace sticky::tokenizer
