#pragma once

#include <string>
#include <vector>

#include "sticky/protocol/transport.hpp"

namespace sticky::protocol {

/// One process for ever: a pid may be given out again, but not with the same start time.
struct ProcessName {
  std::string host;
  i64 pid_namespace = 0;
  i64 pid = 0;
  i64 start_ticks = 0;  ///< field 22 of /proc/PID/stat
  bool operator==(const ProcessName&) const = default;
};

/// The processes of this host, as far as a coordinator must know of them.
class Processes {
 public:
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  virtual ~Processes() = default;

  /// Whether a pid of that process means something here: same host, same pid namespace.
  [[nodiscard]] virtual bool is_here(const ProcessName& process) const = 0;
  /// From now on its end is reported by ended(). False when it cannot be: a process of elsewhere,
  /// or this process itself.
  virtual bool watch(PeerId peer, const ProcessName& process) = 0;
  /// The watched peers whose process has ended, each once. Never waits.
  [[nodiscard]] virtual std::vector<PeerId> ended() = 0;
  /// SIGKILL, unless it is this process itself, has ended, or its pid belongs to another one by
  /// now. Whether the process was there to be killed.
  virtual bool kill(const ProcessName& process) = 0;
};

}  // namespace sticky::protocol
