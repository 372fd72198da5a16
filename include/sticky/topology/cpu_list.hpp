#pragma once

#include <string>
#include <vector>

#include "sticky/base/types.hpp"
#include "sticky/topology/bind.hpp"

namespace sticky::topology {

using CpuList = std::vector<i64>;  ///< numbers of logical CPUs, rising

/// "0-3,8"; "none" for an empty list.
[[nodiscard]] std::string text_of(const CpuList& cpus);

/// Those that this process may run on now (its affinity mask).
[[nodiscard]] CpuList own_cpus();

struct Share {
  CpuList cpus;
  bool is_common = false;  ///< others use the same CPUs
};
/// What of the CPUs allowed on this node a process should use: the coordinator all; each local
/// worker an equal part in order, without the first CPU where there are more than two and the
/// coordinator runs here too; where there are fewer CPUs than workers, all of them in common.
[[nodiscard]] Share share_of(const CpuList& allowed, const LocalPlace& place);

}  // namespace sticky::topology
