#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sticky/protocol/spawner.hpp"

namespace sticky::comm {

/// What a spawned process runs.
struct SpawnOptions {
  std::string program;
  std::function<std::vector<std::string>(const protocol::SpawnOrder&)> arguments;
};

}  // namespace sticky::comm
