// Elements, attributes, slices and iteration.
#include <algorithm>
#include <limits>

#include "methods.hpp"
#include "operators.hpp"
#include "repr.hpp"
#include "unicode.hpp"

namespace sticky::chat {

namespace {

std::string object_name(const Value& value) {
  return value.is_none() ? "None" : fmt::format("{} object", value.type_name());
}

Value missing(Context& context, const Value& object, const Value& key) {
  if (key.is_string()) {
    context.spend_bytes(key.text().size());
    return context.make_undefined(
        fmt::format("'{}' has no attribute '{}'", object_name(object), key.bytes()));
  }
  return context.make_undefined(
      fmt::format("{} has no element {}", object_name(object), text_of(context, key).bytes()));
}

std::optional<Value> element_of_string(Context& context, const Text& text, i64 index) {
  context.read_bytes(text.size());
  if (index < 0) index += count_characters(text.bytes());
  const i64 first = index < 0 ? text.size() : byte_of_character(text.bytes(), index);
  if (first == text.size()) return std::nullopt;
  const std::string_view rest =
      std::string_view(text.bytes()).substr(static_cast<std::size_t>(first));
  return context.make_text(text.slice(first, byte_of_character(rest, 1)));
}

std::optional<Value> element(Context& context, const Value& object, const Value& key) {
  if (object.is(Kind::dict)) {
    if (key.is(Kind::list) && !key.list().is_tuple()) return std::nullopt;
    if (key.is(Kind::dict)) return std::nullopt;
    const Value* found = find_key(context, object.dict(), key);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  if (!key.is_whole()) return std::nullopt;
  if (object.is_string()) return element_of_string(context, object.text(), key.whole());
  if (!object.is(Kind::list) || !object.list().has_elements()) return std::nullopt;
  const List& list = object.list();
  const i64 index = key.whole() < 0 ? key.whole() + list.size() : key.whole();
  if (index < 0 || index >= list.size()) return std::nullopt;
  return list.items[static_cast<std::size_t>(index)];
}

std::optional<Value> attribute(Context& context, const Value& object, std::string_view name) {
  if (object.is(Kind::object)) return object.object().attribute(context, name);
  if (object.is(Kind::list) && object.list().form == List::Form::group) {
    if (name == "grouper") return object.list().items[0];
    if (name == "list") return object.list().items[1];
  }
  return method_of(context, object, name);
}

// Python's slice.indices: which n elements from `first` on, `step` apart.
struct Indices {
  i64 first = 0;
  i64 step = 1;
  i64 n = 0;
};

i64 clamped(const Context& context, const Value& bound, i64 preset, i64 low, i64 high, i64 size) {
  if (bound.is_none()) return preset;
  if (!bound.is_whole())
    context.fail("the bound of a slice is {}, expected an integer", bound.type_name());
  const i64 at = bound.whole() < 0 ? bound.whole() + size : bound.whole();
  return std::clamp(at, low, high);
}

Indices indices(const Context& context, const SliceBounds& bounds, i64 size) {
  constexpr i64 kMost = std::numeric_limits<i64>::max() / 4;
  const i64 step = clamped(context, bounds.step, 1, -kMost, kMost, 0);
  if (step == 0) context.fail("the step of a slice is 0");
  const i64 low = step > 0 ? 0 : -1;
  const i64 high = step > 0 ? size : size - 1;
  const i64 first = clamped(context, bounds.first, step > 0 ? low : high, low, high, size);
  const i64 last = clamped(context, bounds.last, step > 0 ? high : low, low, high, size);
  const i64 distance = step > 0 ? last - first : first - last;
  const i64 stride = step > 0 ? step : -step;
  return {first, step, distance <= 0 ? 0 : (distance - 1) / stride + 1};
}

// Where each character begins, and the end.
std::vector<i64> character_starts(const std::string& bytes) {
  std::vector<i64> starts;
  for (i64 at = 0; at < static_cast<i64>(bytes.size()); ++at) {
    if ((static_cast<unsigned char>(bytes[static_cast<std::size_t>(at)]) & 0xC0) != 0x80)
      starts.push_back(at);
  }
  starts.push_back(static_cast<i64>(bytes.size()));
  return starts;
}

Value slice_of_string(Context& context, const Text& text, const SliceBounds& bounds) {
  context.spend_elements(text.size(), sizeof(i64));
  const auto starts = character_starts(text.bytes());
  const auto start = [&](i64 character) { return starts[static_cast<std::size_t>(character)]; };
  const auto [first, step, n] = indices(context, bounds, static_cast<i64>(starts.size()) - 1);
  if (n == 0) return context.make_text(text.slice(0, 0));
  if (step == 1)
    return context.make_text(text.slice(start(first), start(first + n) - start(first)));
  Text out;
  for (i64 i = 0; i < n; ++i) {
    const i64 at = first + i * step;
    out.append(text, start(at), start(at + 1) - start(at));
  }
  return context.make_text(std::move(out));
}

}  // namespace

Value get_attribute(Context& context, const Value& object, std::string_view name) {
  if (object.is_undefined()) context.fail("{}", object.undefined().why);
  if (const auto found = attribute(context, object, name)) return *found;
  if (object.is(Kind::dict)) {
    context.read_bytes(object.dict().size());
    if (const Value* found = object.dict().find(name)) return *found;
  }
  return context.make_undefined(
      fmt::format("'{}' has no attribute '{}'", object_name(object), name));
}

Value get_item(Context& context, const Value& object, const Value& key) {
  if (object.is_undefined()) context.fail("{}", object.undefined().why);
  if (const auto found = element(context, object, key)) return *found;
  if (key.is_string()) {
    if (const auto found = attribute(context, object, key.bytes())) return *found;
  }
  return missing(context, object, key);
}

Value get_slice(Context& context, const Value& object, const SliceBounds& bounds) {
  if (object.is_undefined()) context.fail("{}", object.undefined().why);
  if (object.is_string()) return slice_of_string(context, object.text(), bounds);
  if (!object.is(Kind::list) || !object.list().has_elements())
    context.fail("a value of type {} has no slices", object.type_name());
  const List& list = object.list();
  const auto [first, step, n] = indices(context, bounds, list.size());
  std::vector<Value> items;
  for (i64 i = 0; i < n; ++i)
    items.push_back(list.items[static_cast<std::size_t>(first + i * step)]);
  return context.make_list(list.form, std::move(items));
}

bool is_iterable(const Value& value) {
  return value.is_undefined() || value.is_string() || value.is(Kind::list) || value.is(Kind::dict);
}

std::vector<Value> elements(Context& context, const Value& value) {
  std::vector<Value> items;
  switch (value.kind()) {
    case Kind::undefined:
      break;
    case Kind::list:
      context.spend_elements(value.list().size(), sizeof(Value));
      items = value.list().items;
      if (value.list().form == List::Form::generator) value.list().items.clear();
      break;
    case Kind::dict:
      context.spend_elements(value.dict().size(), sizeof(Value));
      for (const auto& entry : value.dict().entries)
        items.push_back(entry.first);
      break;
    case Kind::string: {
      context.spend_elements(value.text().size(), sizeof(i64));
      const auto starts = character_starts(value.bytes());
      for (std::size_t i = 0; i + 1 < starts.size(); ++i)
        items.push_back(
            context.make_text(value.text().slice(starts[i], starts[i + 1] - starts[i])));
      break;
    }
    default:
      context.fail("a value of type {} cannot be iterated over", value.type_name());
  }
  return items;
}

i64 length(Context& context, const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
      return 0;
    case Kind::string:
      context.read_bytes(value.text().size());
      return count_characters(value.bytes());
    case Kind::dict:
      return value.dict().size();
    case Kind::list:
      if (value.list().form != List::Form::generator) return value.list().size();
      [[fallthrough]];
    default:
      context.fail("a value of type {} has no length", value.type_name());
  }
}

Value* find_key(Context& context, Dict& dict, const Value& key) {
  if (key.is(Kind::dict) || (key.is(Kind::list) && !key.list().is_tuple()))
    context.fail("a value of type {} cannot be a key", key.type_name());
  context.spend_steps(1 + dict.size() / 8);
  for (auto& [name, value] : dict.entries) {
    const bool is_same = name.is_string() && key.is_string() ? name.bytes() == key.bytes()
                                                             : equal(context, name, key);
    if (is_same) return &value;
  }
  return nullptr;
}

void set_key(Context& context, Dict& dict, const Value& key, const Value& value) {
  if (Value* found = find_key(context, dict, key)) {
    *found = value;
    return;
  }
  context.spend_elements(1, sizeof(Dict::Entry));
  dict.entries.emplace_back(key, value);
}

}  // namespace sticky::chat
