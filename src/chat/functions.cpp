#include "functions.hpp"

#include <algorithm>

#include "arguments.hpp"
#include "operators.hpp"
#include "repr.hpp"

namespace sticky::chat {

namespace {

constexpr i64 kMaxRange = 100'000;  // that of Jinja's sandbox

using Call = Value (*)(Context&, Arguments&);

struct Function final : Object {
  Function(std::string_view n, Call c) : name(n), callee(c) {}
  std::string_view type_name() const override { return "function"; }
  bool is_callable() const override { return true; }
  Value call(Context& context, Arguments& arguments) override {
    const Value result = callee(context, arguments);
    arguments.check_all_taken(context, name);
    return result;
  }
  std::string_view name;
  Call callee;
};

// A method of an object of ours.
template <class Self>
struct Bound final : Object {
  using Member = Value (Self::*)(Context&, Arguments&);
  Bound(Self* s, Member m) : self(s), member(m) {}
  std::string_view type_name() const override { return "method"; }
  bool is_callable() const override { return true; }
  Value call(Context& context, Arguments& arguments) override {
    return (self->*member)(context, arguments);
  }
  Self* self;
  Member member;
};

struct Cycler final : Object {
  explicit Cycler(std::vector<Value> v) : items(std::move(v)) {}
  std::string_view type_name() const override { return "Cycler"; }
  std::optional<Value> attribute(Context& context, std::string_view name) override {
    if (name == "current") return items[at];
    if (name == "next") return context.make<Bound<Cycler>>(this, &Cycler::next);
    if (name == "reset") return context.make<Bound<Cycler>>(this, &Cycler::reset);
    return std::nullopt;
  }
  Value next(Context&, Arguments&) {
    const Value value = items[at];
    at = (at + 1) % items.size();
    return value;
  }
  Value reset(Context&, Arguments&) {
    at = 0;
    return {};
  }
  std::vector<Value> items;
  std::size_t at = 0;
};

// Gives nothing at its first call and the separator at all others.
struct Joiner final : Object {
  explicit Joiner(Value s) : separator(s) {}
  std::string_view type_name() const override { return "Joiner"; }
  bool is_callable() const override { return true; }
  Value call(Context& context, Arguments&) override {
    if (std::exchange(was_called, true)) return separator;
    return context.make_text(Text());
  }
  Value separator;
  bool was_called = false;
};

Value make_range(Context& context, Arguments& arguments) {
  i64 first = arguments.take_integer(context, "start", 0);
  i64 end = 0;
  if (const auto stop = arguments.take("stop")) {
    if (!stop->is_whole()) context.fail("range: found {}, expected an integer", stop->type_name());
    end = stop->whole();
  } else {
    std::swap(first, end);
  }
  const i64 step = arguments.take_integer(context, "step", 1);
  if (step == 0) context.fail("range: the step is 0");
  std::vector<Value> items;
  for (i64 at = first; step > 0 ? at < end : at > end;) {
    if (static_cast<i64>(items.size()) == kMaxRange)
      context.fail("range: more than {} elements", kMaxRange);
    items.emplace_back(at);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  context.spend_steps(static_cast<i64>(items.size()));
  return context.make_list(List::Form::range, std::move(items));
}

Value make_dict(Context& context, Arguments& arguments) {
  Dict* dict = context.make<Dict>();
  if (const auto given = arguments.take("mapping")) {
    if (given->is(Kind::dict)) {
      context.spend_elements(given->dict().size(), sizeof(Dict::Entry));
      dict->entries = given->dict().entries;
    } else {
      for (const Value& pair : elements(context, *given)) {
        const auto parts = elements(context, pair);
        if (parts.size() != 2) context.fail("dict: an element is no pair");
        set_key(context, *dict, parts[0], parts[1]);
      }
    }
  }
  for (const auto& [name, value] : std::exchange(arguments.named, {}))
    set_key(context, *dict, context.make_text(std::string(name)), value);
  return dict;
}

Value make_namespace(Context& context, Arguments& arguments) {
  auto* space = context.make<Namespace>();
  if (const auto given = arguments.take("mapping")) {
    if (!given->is(Kind::dict))
      context.fail("namespace: found {}, expected a dict", given->type_name());
    for (const auto& [name, value] : given->dict().entries)
      space->set(context, text_of(context, name).bytes(), value);
  }
  for (const auto& [name, value] : std::exchange(arguments.named, {}))
    space->set(context, name, value);
  return space;
}

Value make_cycler(Context& context, Arguments& arguments) {
  auto items = arguments.take_positional();
  if (items.empty()) context.fail("cycler: at least one item is needed");
  return context.make<Cycler>(std::move(items));
}

Value make_joiner(Context& context, Arguments& arguments) {
  return context.make<Joiner>(arguments.take_or("sep", context.make_text(std::string(", "))));
}

Value raise_exception(Context& context, Arguments& arguments) {
  context.fail("{}", text_of(context, arguments.need(context, "message")).bytes());
}

Value strftime_now(Context& context, Arguments& arguments) {
  const Text& format = text_of(context, arguments.need(context, "format"));
  std::string text = format_time(context, context.now(), format.bytes());
  // A format from the input stays input.
  Text out;
  out.append_instead(text, format, 0, format.size());
  return context.make_text(std::move(out));
}

}  // namespace

std::optional<Value> Namespace::attribute(Context& context, std::string_view name) {
  context.read_bytes(static_cast<i64>(members.size()));
  const auto it = std::ranges::find(members, name, &std::pair<std::string, Value>::first);
  return it == members.end() ? std::nullopt : std::optional(it->second);
}

void Namespace::set(Context& context, std::string_view name, const Value& value) {
  context.read_bytes(static_cast<i64>(members.size()));
  const auto it = std::ranges::find(members, name, &std::pair<std::string, Value>::first);
  if (it != members.end()) {
    it->second = value;
    return;
  }
  context.spend_bytes(static_cast<i64>(name.size() + sizeof members[0]));
  members.emplace_back(name, value);
}

std::optional<Value> global_function(Context& context, std::string_view name) {
  static constexpr std::pair<std::string_view, Call> kFunctions[] = {
      {"cycler", make_cycler},
      {"dict", make_dict},
      {"joiner", make_joiner},
      {"namespace", make_namespace},
      {"raise_exception", raise_exception},
      {"range", make_range},
      {"strftime_now", strftime_now}};
  for (const auto& [key, callee] : kFunctions) {
    if (key == name) return context.make<Function>(key, callee);
  }
  return std::nullopt;
}

}  // namespace sticky::chat
