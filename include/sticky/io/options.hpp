#pragma once

#include <string>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky::io {

struct InputOptions {
  std::vector<std::string> files;  ///< "-": standard input; gzip and zstd are unpacked
  /// Where standard input was kept (keep_standard_input); empty: it is read as it comes.
  std::string kept_standard_input;
  bool strict = false;            ///< one bad line refuses everything, before any model loads
  bool check_model = false;       ///< a request whose model is not this state's is an error
  i64 max_line_bytes = 64 << 20;  ///< a longer line is an error of its own, line_too_long
};

enum class Order { completion, input };

struct OutputOptions {
  std::string dir;  ///< empty: runs/<job>-<UTC time>
  Order order = Order::completion;
};

}  // namespace sticky::io
