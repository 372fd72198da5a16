// Filters that apply a filter or test to each element.
#include "arguments.hpp"
#include "element_key.hpp"
#include "filters.hpp"
#include "operators.hpp"
#include "repr.hpp"

namespace sticky::chat {

namespace {

std::string name_from(const Context& context, const Value& name, std::string_view what) {
  if (!name.is_string()) context.fail("the name of a {} is {}", what, name.type_name());
  return name.bytes();
}

Value map(Context& context, const Value& input, Arguments& arguments) {
  std::vector<Value> mapped;
  if (arguments.positional.empty()) {
    const Value attribute = arguments.need(context, "attribute");
    const auto absent = arguments.take("default");
    const ElementKey key(context, attribute, false,
                         absent && !absent->is_none() ? absent : std::nullopt);
    for (const Value& item : elements(context, input))
      mapped.push_back(key.of(item));
    return context.make_list(List::Form::generator, std::move(mapped));
  }
  const std::string name = name_from(context, arguments.need(context, "filter"), "filter");
  const Filter* filter = find_filter(name);
  if (filter == nullptr) context.fail("no filter named '{}'", name);
  const Deeper deeper(context);  // map('map', 'map', …)
  Arguments rest;
  rest.positional = arguments.take_positional();
  rest.named = std::exchange(arguments.named, {});
  for (const Value& item : elements(context, input)) {
    Arguments each = rest;
    mapped.push_back(apply_filter(context, *filter, item, each));
  }
  return context.make_list(List::Form::generator, std::move(mapped));
}

// by_attribute: the first argument names what of the element is tested.
template <bool keeps, bool by_attribute>
Value choose(Context& context, const Value& input, Arguments& arguments) {
  const ElementKey key(context, by_attribute ? arguments.need(context, "attribute") : Value());
  const ValueTest* test = nullptr;
  if (const auto given = arguments.take("test")) {
    const std::string name = name_from(context, *given, "test");
    test = find_test(name);
    if (test == nullptr) context.fail("no test named '{}'", name);
  }
  Arguments rest;
  rest.positional = arguments.take_positional();
  rest.named = std::exchange(arguments.named, {});
  std::vector<Value> chosen;
  for (const Value& item : elements(context, input)) {
    Arguments each = rest;
    const Value value = key.of(item);
    const bool holds = test == nullptr ? value.is_true() : apply_test(context, *test, value, each);
    if (holds == keeps) chosen.push_back(item);
  }
  return context.make_list(List::Form::generator, std::move(chosen));
}

Value attr(Context& context, const Value& input, Arguments& arguments) {
  const std::string name = name_from(context, arguments.need(context, "name"), "attribute");
  if (input.is(Kind::dict) && input.dict().find(name) != nullptr)
    return context.make_undefined(fmt::format("'dict object' has no attribute '{}'", name));
  return get_attribute(context, input, name);
}

}  // namespace

std::span<const Filter> selection_filters() {
  static constexpr Filter kFilters[] = {
      {"attr", attr},
      {"map", map},
      {"reject", choose<false, false>},
      {"rejectattr", choose<false, true>},
      {"select", choose<true, false>},
      {"selectattr", choose<true, true>},
  };
  return kFilters;
}

}  // namespace sticky::chat
