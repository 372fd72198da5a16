#pragma once

#include <string>
#include <vector>

#include "sticky/base/json.hpp"
#include "sticky/config/load.hpp"

namespace sticky::config {

/// One value on its way into the configuration.
struct Entry {
  std::string key;  ///< "state.default.model"
  Json value;
  std::string origin;
};

/// All values of a TOML file, flattened, each with "FILE:LINE", in the order of the file. Before
/// the values of a table comes the table itself, as an empty object. What cannot be read or parsed
/// goes to `problems`.
[[nodiscard]] std::vector<Entry> read_toml(const std::string& path, std::vector<Problem>& problems);

}  // namespace sticky::config
