#pragma once

#include <string>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky::io {

struct InputOptions {
  std::vector<std::string> files;  ///< "-": standard input; .gz and .zst are unpacked
  bool strict = false;             ///< one bad line refuses everything, before any model loads
  bool check_model = false;        ///< a request whose model is not this state's is an error
  i64 max_line_bytes = 64 << 20;   ///< a longer line is an error of its own
};

enum class Order { completion, input };

struct OutputOptions {
  std::string dir;  ///< empty: runs/<job>-<UTC time>
  Order order = Order::completion;
};

}  // namespace sticky::io
