#pragma once

#include <memory>

#include "sticky/protocol/processes.hpp"

namespace sticky::comm {

/// The name of this process.
[[nodiscard]] protocol::ProcessName this_process();

/// Processes of this host by pidfd (Linux 5.3); before that the end of a process is not reported
/// and kill() checks the start time right before it kills.
[[nodiscard]] std::unique_ptr<protocol::Processes> make_local_processes();

}  // namespace sticky::comm
