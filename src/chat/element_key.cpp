#include "element_key.hpp"

#include <algorithm>
#include <charconv>

#include "operators.hpp"
#include "text_functions.hpp"

namespace sticky::chat {

ElementKey::ElementKey(Context& context,
                       const Value& attribute,
                       bool ignores_case,
                       std::optional<Value> preset)
    : context_(context),
      ignores_case_(ignores_case),
      preset_(preset) {
  if (attribute.is_none()) return;
  if (!attribute.is_string()) {
    path_.push_back(attribute);
    return;
  }
  for (const Value& part : split_at(context, attribute.text(), ".", -1)) {
    i64 index = 0;
    const std::string& name = part.bytes();
    const char* end = name.data() + name.size();
    const auto result = std::from_chars(name.data(), end, index);
    const bool is_index = result.ec == std::errc{} && result.ptr == end && name[0] != '-';
    path_.push_back(is_index ? Value(index) : part);
  }
}

Value ElementKey::of(const Value& element) const {
  Value value = element;
  for (const Value& part : path_) {
    value = get_item(context_, value, part);
    if (preset_ && value.is_undefined()) value = *preset_;
  }
  if (ignores_case_ && value.is_string())
    value = context_.make_text(in_case(context_, value.text(), Case::lower));
  return value;
}

}  // namespace sticky::chat
