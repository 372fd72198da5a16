#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sticky/base/types.hpp"

namespace sticky::log {

enum class Level { debug, info, warning, error };

/// Where finished lines go ("[00:00:12] warning: text", without a newline). The default writes to
/// standard error. Thread-safe: sinks are called one at a time.
using Sink = std::function<void(Level, std::string_view)>;
void set_sink(Sink sink);
/// Lines below this level are dropped; info by default.
void set_level(Level level);

void write(Level level, std::string_view text);

template <class... Args>
void debug(fmt::format_string<Args...> text, Args&&... args) {
  write(Level::debug, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> text, Args&&... args) {
  write(Level::info, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void warning(fmt::format_string<Args...> text, Args&&... args) {
  write(Level::warning, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> text, Args&&... args) {
  write(Level::error, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace sticky::log
