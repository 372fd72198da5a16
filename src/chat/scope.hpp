#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "context.hpp"

namespace sticky::chat {

/// Names and their values, and the scope around. A macro keeps the one it was defined in.
struct Scope final : Cell {
  explicit Scope(Scope* o) : outer(o) {}

  [[nodiscard]] const Value* find(Context& context, std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
      context.spend_steps(1 + static_cast<i64>(scope->names.size()) / 16);
      for (const auto& [key, value] : scope->names) {
        if (key == name) return &value;
      }
    }
    return nullptr;
  }
  void set(Context& context, std::string_view name, const Value& value) {
    context.spend_steps(1 + static_cast<i64>(names.size()) / 16);
    for (auto& [key, old] : names) {
      if (key == name) {
        old = value;
        return;
      }
    }
    context.spend_bytes(sizeof names[0]);
    names.emplace_back(name, value);
  }

  Scope* outer;
  std::vector<std::pair<std::string_view, Value>> names;  ///< the names live in tree or input
};

}  // namespace sticky::chat
