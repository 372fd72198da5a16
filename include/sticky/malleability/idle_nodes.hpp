#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/malleability/host.hpp"

namespace sticky::malleability {

/// Tells on which hosts workers may run just now.
class IdleNodes {
 public:
  IdleNodes() = default;
  IdleNodes(const IdleNodes&) = delete;
  IdleNodes& operator=(const IdleNodes&) = delete;
  virtual ~IdleNodes() = default;

  /// All of them, each once; nothing when that cannot be told: a source that fails is "unknown" and
  /// never "none". May wait for a file system, so it is asked beside the loop that serves workers.
  [[nodiscard]] virtual std::optional<std::vector<Host>> sample() = 0;
};

/// By `resize.watch`: null for "off"; "hostfile:FILE" reads FILE again whenever it has changed. A
/// change counts once the file is the same at two samples, so that one that is just being written
/// is unknown. Unreadable, no plain file, above 1 MiB, or a line that is no host: unknown, with one
/// warning for each new reason. ConfigError for anything else.
[[nodiscard]] std::unique_ptr<IdleNodes> make_idle_nodes(const std::string& watch);

/// What `resize.watch` may not be: the sentence that says so; empty when it is all right.
[[nodiscard]] std::string problem_of_watch(const std::string& watch);

/// The hosts of a host file as Open MPI reads it: a line is `host`, `host slots=N` or `host:N`;
/// `max_slots=N` (or `max-slots`) is understood and not used; `#` begins a comment; a host that
/// stands in several lines has the sum of their slots. FormatError with the line.
[[nodiscard]] std::vector<Host> parse_hostfile(std::string_view text);

}  // namespace sticky::malleability
