#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sticky/topology/bind.hpp"

namespace sticky::cli {

using Environment = std::function<const char*(const char* name)>;

/// Where a rank stands among those of its node, as Open MPI or Slurm says in the environment. Alone
/// where neither does.
[[nodiscard]] topology::LocalPlace place_in(int rank, const Environment& environment);
[[nodiscard]] topology::LocalPlace local_place(int rank);

/// How many tasks node number `node` has: the n-th of "4(x2),3", which stands for 4, 4, 3. 1 when
/// the list does not reach so far.
[[nodiscard]] i64 tasks_on_node(std::string_view list, i64 node);

}  // namespace sticky::cli
