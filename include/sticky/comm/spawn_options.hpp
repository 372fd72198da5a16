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
  /// Why nothing can be started on a host; empty when it can. Asked before every spawn onto a host
  /// by name, on the spawner's thread; may be empty.
  std::function<std::string(const std::string& host)> why_out_of_reach = nullptr;
};

}  // namespace sticky::comm
