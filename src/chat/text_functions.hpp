#pragma once

#include <string_view>
#include <vector>

#include "context.hpp"

// What string methods and filters share. All keep the origin of every byte.
namespace sticky::chat {

enum class Case { upper, lower, capitalized, title };
/// Title: each run of letters begins in upper case, as Python's str.title.
[[nodiscard]] Text in_case(Context& context, const Text& text, Case which);

enum class Side { left, right, both };
/// Without the characters of the set at its ends; an empty set means white space.
[[nodiscard]] Text stripped(Context& context, const Text& text, Side side, std::string_view set);

/// The first `n_most` occurrences replaced; n_most < 0: all.
[[nodiscard]] Text replaced(
    Context& context, const Text& text, const Text& from, const Text& to, i64 n_most);
/// The pieces between separators, at most n_most + 1 of them (n_most < 0: all).
[[nodiscard]] std::vector<Value> split_at(Context& context,
                                          const Text& text,
                                          std::string_view separator,
                                          i64 n_most);
[[nodiscard]] std::vector<Value> split_at_space(Context& context, const Text& text, i64 n_most);
/// The same as split_at, counted from the right; n_most >= 0.
[[nodiscard]] std::vector<Value> split_at_from_right(Context& context,
                                                     const Text& text,
                                                     std::string_view separator,
                                                     i64 n_most);
[[nodiscard]] std::vector<Value> split_lines(Context& context, const Text& text, bool keep_ends);
[[nodiscard]] Value join(Context& context, const Text& separator, const std::vector<Value>& items);

}  // namespace sticky::chat
