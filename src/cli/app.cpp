#include "app.hpp"

#include <exception>

#include <fmt/format.h>

#include "sticky/base/error.hpp"

#include "command_line.hpp"

namespace sticky::cli {
namespace {

constexpr int kUsage = 1;
constexpr int kFatal = 5;

}  // namespace

int run_app(int argc, char** argv) {
  const Invoked invoked{argc, argv};
  try {
    const Wish wish = read_command_line(invoked);
    return wish.action == nullptr ? wish.exit_code : wish.action();
  } catch (const ConfigError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kFatal;
  }
}

}  // namespace sticky::cli
