#pragma once

#include "arguments.hpp"
#include "context.hpp"

namespace sticky::chat {

/// Python's `format % values`: conversions s r a d i u f F e E g G x X o %, with flags, width and
/// precision.
[[nodiscard]] Value format_percent(Context& context, const Text& format, const Value& values);

/// Python's format.format(…): fields by position or name without attributes or subscripts;
/// conversions !s !r; specifications [[fill]align][sign][0][width][.precision][type] with the types
/// s d f F e E g G x X o b %.
[[nodiscard]] Value format_braces(Context& context, const Text& format, Arguments& arguments);

}  // namespace sticky::chat
