#include "methods.hpp"

#include <algorithm>

#include "arguments.hpp"
#include "operators.hpp"

namespace sticky::chat {

namespace {

struct BoundMethod final : Object {
  BoundMethod(Value s, const Method* m) : self(s), method(m) {}
  std::string_view type_name() const override { return "method"; }
  bool is_callable() const override { return true; }
  Value call(Context& context, Arguments& arguments) override {
    const Value result = method->call(context, self, arguments);
    arguments.check_all_taken(context, method->name);
    return result;
  }
  Value self;
  const Method* method;
};

std::span<const Method> methods_of(const Value& value) {
  switch (value.kind()) {
    case Kind::string:
      return string_methods();
    case Kind::dict:
      return dict_methods();
    case Kind::list:
      if (value.list().form == List::Form::list || value.list().is_tuple()) return list_methods();
      return {};
    default:
      return {};
  }
}

std::size_t position(const List& list, i64 index) {
  const i64 at = index < 0 ? index + list.size() : index;
  return static_cast<std::size_t>(std::clamp<i64>(at, 0, list.size()));
}

// Tuples have only the methods that change nothing.
List& changeable(const Context& context, const Value& self) {
  if (self.list().form != List::Form::list)
    context.fail("a value of type {} cannot be changed", self.type_name());
  return self.list();
}

Value list_append(Context& context, const Value& self, Arguments& arguments) {
  context.spend_elements(1, sizeof(Value));
  changeable(context, self).items.push_back(arguments.need(context, "object"));
  return {};
}

Value list_extend(Context& context, const Value& self, Arguments& arguments) {
  const auto items = elements(context, arguments.need(context, "iterable"));
  List& list = changeable(context, self);
  list.items.insert(list.items.end(), items.begin(), items.end());
  return {};
}

Value list_insert(Context& context, const Value& self, Arguments& arguments) {
  List& list = changeable(context, self);
  const i64 index = arguments.take_integer(context, "index", 0);
  context.spend_elements(1, sizeof(Value));
  context.read_bytes(list.size());
  list.items.insert(list.items.begin() + static_cast<std::ptrdiff_t>(position(list, index)),
                    arguments.need(context, "object"));
  return {};
}

Value list_pop(Context& context, const Value& self, Arguments& arguments) {
  List& list = changeable(context, self);
  const i64 index = arguments.take_integer(context, "index", -1);
  const i64 at = index < 0 ? index + list.size() : index;
  if (at < 0 || at >= list.size())
    context.fail("pop from a list of {}: no element {}", list.size(), index);
  context.read_bytes(list.size());
  const auto place = list.items.begin() + static_cast<std::ptrdiff_t>(at);
  const Value value = *place;
  list.items.erase(place);
  return value;
}

Value list_remove(Context& context, const Value& self, Arguments& arguments) {
  List& list = changeable(context, self);
  const Value wanted = arguments.need(context, "value");
  const auto place = std::ranges::find_if(
      list.items, [&](const Value& item) { return equal(context, item, wanted); });
  if (place == list.items.end()) context.fail("remove: the value is not in the list");
  list.items.erase(place);
  return {};
}

Value list_reverse(Context& context, const Value& self, Arguments&) {
  List& list = changeable(context, self);
  context.read_bytes(list.size());
  std::ranges::reverse(list.items);
  return {};
}

Value list_index(Context& context, const Value& self, Arguments& arguments) {
  const Value wanted = arguments.need(context, "value");
  const List& list = self.list();
  for (i64 i = 0; i < list.size(); ++i) {
    if (equal(context, list.items[static_cast<std::size_t>(i)], wanted)) return i;
  }
  context.fail("index: the value is not in the list");
}

Value list_count(Context& context, const Value& self, Arguments& arguments) {
  const Value wanted = arguments.need(context, "value");
  i64 n = 0;
  for (const Value& item : self.list().items)
    n += equal(context, item, wanted) ? 1 : 0;
  return n;
}

Value list_copy(Context& context, const Value& self, Arguments&) {
  return context.make_list(self.list().form, self.list().items);
}

Value list_clear(Context& context, const Value& self, Arguments&) {
  changeable(context, self).items.clear();
  return {};
}

Value dict_keys(Context& context, const Value& self, Arguments&) {
  return context.make_list(List::Form::keys, elements(context, self));
}

Value dict_values(Context& context, const Value& self, Arguments&) {
  std::vector<Value> values;
  context.spend_elements(self.dict().size(), sizeof(Value));
  for (const auto& entry : self.dict().entries)
    values.push_back(entry.second);
  return context.make_list(List::Form::values, std::move(values));
}

Value dict_items(Context& context, const Value& self, Arguments&) {
  std::vector<Value> pairs;
  for (const auto& [key, value] : self.dict().entries)
    pairs.push_back(context.make_list(List::Form::tuple, {key, value}));
  return context.make_list(List::Form::items, std::move(pairs));
}

Value dict_get(Context& context, const Value& self, Arguments& arguments) {
  const Value key = arguments.need(context, "key");
  const Value preset = arguments.take_or("default", {});
  const Value* found = find_key(context, self.dict(), key);
  return found == nullptr ? preset : *found;
}

void erase_key(Dict& dict, const Value* found) {
  std::erase_if(dict.entries, [found](const Dict::Entry& e) { return &e.second == found; });
}

Value dict_pop(Context& context, const Value& self, Arguments& arguments) {
  const Value key = arguments.need(context, "key");
  const auto preset = arguments.take("default");
  const Value* found = find_key(context, self.dict(), key);
  if (found == nullptr && !preset) context.fail("pop: the dict has no such key");
  if (found == nullptr) return *preset;
  const Value value = *found;
  erase_key(self.dict(), found);
  return value;
}

Value dict_setdefault(Context& context, const Value& self, Arguments& arguments) {
  const Value key = arguments.need(context, "key");
  const Value preset = arguments.take_or("default", {});
  if (const Value* found = find_key(context, self.dict(), key)) return *found;
  set_key(context, self.dict(), key, preset);
  return preset;
}

Value dict_update(Context& context, const Value& self, Arguments& arguments) {
  if (const auto other = arguments.take("other")) {
    if (!other->is(Kind::dict)) context.fail("update: expected a dict");
    const auto entries = other->dict().entries;
    for (const auto& [key, value] : entries)
      set_key(context, self.dict(), key, value);
  }
  for (const auto& [name, value] : std::exchange(arguments.named, {}))
    set_key(context, self.dict(), context.make_text(std::string(name)), value);
  return {};
}

Value dict_copy(Context& context, const Value& self, Arguments&) {
  context.spend_elements(self.dict().size(), sizeof(Dict::Entry));
  Dict* copy = context.make<Dict>();
  copy->entries = self.dict().entries;
  return copy;
}

Value dict_clear(Context&, const Value& self, Arguments&) {
  self.dict().entries.clear();
  return {};
}

}  // namespace

std::span<const Method> list_methods() {
  static constexpr Method kMethods[] = {
      {"append", list_append},   {"clear", list_clear},   {"copy", list_copy},
      {"count", list_count},     {"extend", list_extend}, {"index", list_index},
      {"insert", list_insert},   {"pop", list_pop},       {"remove", list_remove},
      {"reverse", list_reverse},
  };
  return kMethods;
}

std::span<const Method> dict_methods() {
  static constexpr Method kMethods[] = {
      {"clear", dict_clear},           {"copy", dict_copy},     {"get", dict_get},
      {"items", dict_items},           {"keys", dict_keys},     {"pop", dict_pop},
      {"setdefault", dict_setdefault}, {"update", dict_update}, {"values", dict_values},
  };
  return kMethods;
}

std::optional<Value> method_of(Context& context, const Value& value, std::string_view name) {
  for (const Method& method : methods_of(value)) {
    if (method.name == name) return context.make<BoundMethod>(value, &method);
  }
  for (const Method& method : value.is_string() ? search_methods() : std::span<const Method>()) {
    if (method.name == name) return context.make<BoundMethod>(value, &method);
  }
  return std::nullopt;
}

}  // namespace sticky::chat
