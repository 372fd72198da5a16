#pragma once

#include <string_view>
#include <vector>

#include "ast.hpp"
#include "context.hpp"

// Python's operators on values. Where Python raises, these throw TemplateError.
namespace sticky::chat {

[[nodiscard]] Value binary(Context& context, BinaryOp op, const Value& a, const Value& b);
[[nodiscard]] Value negated(Context& context, const Value& value);

[[nodiscard]] bool equal(Context& context, const Value& a, const Value& b);
/// Below, at or above 0 as a sorts before, with or behind b.
[[nodiscard]] int order(Context& context, const Value& a, const Value& b);
[[nodiscard]] bool contains(Context& context, const Value& container, const Value& item);
[[nodiscard]] bool compare(Context& context, CompareOp op, const Value& a, const Value& b);

/// First byte from `from` on where `what` begins in the text; -1 when nowhere. Linear time.
[[nodiscard]] i64 find_bytes(Context& context,
                             std::string_view text,
                             std::string_view what,
                             i64 from);

/// object.name: a method or attribute first, then an element; else undefined.
[[nodiscard]] Value get_attribute(Context& context, const Value& object, std::string_view name);
/// object[key]: an element first, then an attribute; else undefined.
[[nodiscard]] Value get_item(Context& context, const Value& object, const Value& key);
/// object[first:last:step]; None: left out.
struct SliceBounds {
  Value first, last, step;
};
[[nodiscard]] Value get_slice(Context& context, const Value& object, const SliceBounds& bounds);

/// The values that a loop over it sees; a generator is empty from then on.
[[nodiscard]] std::vector<Value> elements(Context& context, const Value& value);
[[nodiscard]] bool is_iterable(const Value& value);
[[nodiscard]] i64 length(Context& context, const Value& value);

/// The value of a key; null when there is none. TemplateError for a key that Python cannot hash.
[[nodiscard]] Value* find_key(Context& context, Dict& dict, const Value& key);
void set_key(Context& context, Dict& dict, const Value& key, const Value& value);

}  // namespace sticky::chat
