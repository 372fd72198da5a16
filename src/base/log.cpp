#include "sticky/base/log.hpp"

#include <chrono>
#include <mutex>
#include <utility>

#include "sticky/base/standard_streams.hpp"

namespace sticky::log {

namespace {

struct State {
  std::mutex mutex;
  Level level = Level::info;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  Sink sink = [](Level, std::string_view line) { tell("{}\n", line); };
};

// The one global of the program: every line needs it (house rule 8).
State& state() {
  static State the_state;
  return the_state;
}

std::string stamped(Level level, std::string_view text, i64 seconds) {
  constexpr const char* kPrefix[] = {"debug: ", "", "warning: ", "error: "};
  return fmt::format("[{:02}:{:02}:{:02}] {}{}", seconds / 3600, seconds / 60 % 60, seconds % 60,
                     kPrefix[static_cast<int>(level)], text);
}

}  // namespace

void set_sink(Sink sink) {
  const std::lock_guard lock(state().mutex);
  state().sink = std::move(sink);
}

void set_level(Level level) {
  const std::lock_guard lock(state().mutex);
  state().level = level;
}

void write(Level level, std::string_view text) {
  State& log = state();
  const std::lock_guard lock(log.mutex);
  if (level < log.level) return;
  const auto elapsed = std::chrono::steady_clock::now() - log.start;
  const i64 seconds = std::chrono::duration_cast<std::chrono::seconds>(elapsed).count();
  log.sink(level, stamped(level, text, seconds));
}

}  // namespace sticky::log
