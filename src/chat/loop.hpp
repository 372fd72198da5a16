#pragma once

#include <functional>
#include <vector>

#include "context.hpp"

namespace sticky::chat {

/// The variable `loop` inside a for.
struct Loop final : Object {
  Loop(std::vector<Value> v, i64 d) : items(std::move(v)), depth(d) {}
  [[nodiscard]] std::string_view type_name() const override { return "LoopContext"; }
  [[nodiscard]] std::optional<Value> attribute(Context& context, std::string_view name) override;

  [[nodiscard]] bool is_callable() const override { return true; }
  /// loop(items) of a recursive loop.
  Value call(Context& context, Arguments& arguments) override;

  Value cycle(Context& context, Arguments& arguments);
  Value changed(Context& context, Arguments& arguments);

  std::vector<Value> items;
  i64 at = 0;                                ///< the present round, from 0
  i64 depth = 0;                             ///< how many loops of the same form are around
  std::function<Value(const Value&)> again;  ///< recursive loops only

 private:
  std::vector<Value> last_seen_;
  bool has_seen_ = false;
};

}  // namespace sticky::chat
