#pragma once

#include <vector>

#include "context.hpp"

namespace sticky::chat {

/// The variable `loop` inside a for.
struct Loop final : Object {
  explicit Loop(std::vector<Value> v) : items(std::move(v)) {}
  [[nodiscard]] std::string_view type_name() const override { return "LoopContext"; }
  [[nodiscard]] std::optional<Value> attribute(Context& context, std::string_view name) override;

  Value cycle(Context& context, Arguments& arguments);
  Value changed(Context& context, Arguments& arguments);

  std::vector<Value> items;
  i64 at = 0;  ///< the present round, from 0

 private:
  std::vector<Value> last_seen_;
  bool has_seen_ = false;
};

}  // namespace sticky::chat
