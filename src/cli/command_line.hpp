#pragma once

#include <functional>

#include "commands.hpp"

namespace sticky::cli {

/// What a command line asks for.
struct Wish {
  std::function<int()> action;      ///< empty: nothing is left to do
  int exit_code = 0;                ///< when there is no action
  bool is_code_the_answer = false;  ///< then words that nobody takes change nothing
};

/// Understands a command line. Help, and what is wrong with it, are printed right here. `invoked`
/// outlives the action.
[[nodiscard]] Wish read_command_line(const Invoked& invoked);

}  // namespace sticky::cli
