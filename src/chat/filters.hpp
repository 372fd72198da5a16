#pragma once

#include <span>
#include <string_view>

#include "value.hpp"

namespace sticky::chat {

/// value | name(arguments). Source: Jinja2 3.1, filters.py.
struct Filter {
  std::string_view name;
  Value (*apply)(Context& context, const Value& input, Arguments& arguments);
};
/// Null: no such filter.
[[nodiscard]] const Filter* find_filter(std::string_view name);
/// Applies it and checks that it took every argument.
Value apply_filter(Context& context,
                   const Filter& filter,
                   const Value& input,
                   Arguments& arguments);

/// value is name(arguments). Source: Jinja2 3.1, tests.py.
struct ValueTest {
  std::string_view name;
  bool (*holds)(Context& context, const Value& input, Arguments& arguments);
};
[[nodiscard]] const ValueTest* find_test(std::string_view name);
bool apply_test(Context& context, const ValueTest& test, const Value& input, Arguments& arguments);

// The parts of the table of filters.
[[nodiscard]] std::span<const Filter> text_filters();
[[nodiscard]] std::span<const Filter> number_filters();
[[nodiscard]] std::span<const Filter> sequence_filters();
[[nodiscard]] std::span<const Filter> selection_filters();

}  // namespace sticky::chat
