#include "loop.hpp"

#include "arguments.hpp"
#include "operators.hpp"

namespace sticky::chat {

namespace {

struct LoopMethod final : Object {
  using Member = Value (Loop::*)(Context&, Arguments&);
  LoopMethod(Loop* l, Member m) : loop(l), member(m) {}
  std::string_view type_name() const override { return "method"; }
  bool is_callable() const override { return true; }
  Value call(Context& context, Arguments& arguments) override {
    return (loop->*member)(context, arguments);
  }
  Loop* loop;
  Member member;
};

}  // namespace

std::optional<Value> Loop::attribute(Context& context, std::string_view name) {
  const i64 n = static_cast<i64>(items.size());
  const auto item = [&](i64 i) { return items[static_cast<std::size_t>(i)]; };
  if (name == "index") return at + 1;
  if (name == "index0") return at;
  if (name == "revindex") return n - at;
  if (name == "revindex0") return n - at - 1;
  if (name == "first") return at == 0;
  if (name == "last") return at == n - 1;
  if (name == "length") return n;
  if (name == "depth") return depth + 1;
  if (name == "depth0") return depth;
  if (name == "previtem")
    return at > 0 ? item(at - 1) : context.make_undefined("there is no previous item");
  if (name == "nextitem")
    return at + 1 < n ? item(at + 1) : context.make_undefined("there is no next item");
  if (name == "cycle") return context.make<LoopMethod>(this, &Loop::cycle);
  if (name == "changed") return context.make<LoopMethod>(this, &Loop::changed);
  return std::nullopt;
}

Value Loop::call(Context& context, Arguments& arguments) {
  const Value over = arguments.need(context, "iterable");
  arguments.check_all_taken(context, "loop");
  if (!again) context.fail("the loop must have the 'recursive' marker to be called recursively");
  return again(over);
}

Value Loop::cycle(Context& context, Arguments& arguments) {
  const auto choices = arguments.take_positional();
  if (choices.empty()) context.fail("loop.cycle: no items to cycle through");
  return choices[static_cast<std::size_t>(at) % choices.size()];
}

Value Loop::changed(Context& context, Arguments& arguments) {
  auto seen = arguments.take_positional();
  bool is_same = has_seen_ && seen.size() == last_seen_.size();
  for (std::size_t i = 0; is_same && i < seen.size(); ++i)
    is_same = equal(context, seen[i], last_seen_[i]);
  last_seen_ = std::move(seen);
  has_seen_ = true;
  return !is_same;
}

}  // namespace sticky::chat
