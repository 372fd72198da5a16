#include "app.hpp"

#include <cstdio>
#include <exception>
#include <system_error>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/standard_streams.hpp"

#include "command_line.hpp"

namespace sticky::cli {
namespace {

constexpr int kUsage = 1;
constexpr int kFatal = 5;

}  // namespace

int run_app(int argc, char** argv) {
  const Invoked invoked{argc, argv};
  hold_standard_streams();
  try {
    const Wish wish = read_command_line(invoked);
    const int exit_code = wish.action == nullptr ? wish.exit_code : wish.action();
    if (!wish.is_code_the_answer) flush_output();
    return exit_code;
  } catch (const ConfigError& error) {
    tell("{}\n", error.what());
    return kUsage;
  } catch (const std::system_error& error) {  // fmt::print() does not say what it cannot write to
    tell("{}{}\n", std::ferror(stdout) != 0 ? "standard output: " : "", error.what());
    return kFatal;
  } catch (const std::exception& error) {
    tell("{}\n", error.what());
    return kFatal;
  }
}

}  // namespace sticky::cli
