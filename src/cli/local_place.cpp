#include "local_place.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>

namespace sticky::cli {
namespace {

std::optional<i64> number_in(const Environment& environment, const char* name) {
  const char* text = environment(name);
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  i64 value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// "none" is what the launcher form asks for, so that workers bind themselves.
bool is_binding_chosen(const Environment& environment) {
  const char* policy = environment("OMPI_MCA_hwloc_base_binding_policy");
  return policy != nullptr && std::string_view(policy) != "none";
}

}  // namespace

i64 tasks_on_node(std::string_view list, i64 node) {
  const char* at = list.data();
  const char* end = at + list.size();
  for (i64 first = 0; at < end;) {
    i64 n_tasks = 0;
    i64 n_nodes = 1;
    at = std::from_chars(at, end, n_tasks).ptr;
    if (std::string_view(at, end).starts_with("(x"))
      at = std::from_chars(at + 2, end, n_nodes).ptr + 1;
    first += n_nodes;
    if (node < first) return n_tasks;
    ++at;  // the comma
  }
  return 1;
}

topology::LocalPlace place_in(int rank, const Environment& environment) {
  topology::LocalPlace place{.is_coordinator = rank == 0,
                             .is_binding_chosen = is_binding_chosen(environment)};
  if (const auto local_rank = number_in(environment, "OMPI_COMM_WORLD_LOCAL_RANK")) {
    place.local_rank = *local_rank;
    place.n_local = number_in(environment, "OMPI_COMM_WORLD_LOCAL_SIZE").value_or(1);
    // Ranks are handed out node by node unless the user maps them otherwise; then rank 0's core is
    // at worst left to it on a node where it is not.
    place.has_coordinator = *local_rank == rank;
  } else if (const auto local_id = number_in(environment, "SLURM_LOCALID")) {
    const i64 node = number_in(environment, "SLURM_NODEID").value_or(0);
    const char* tasks = environment("SLURM_STEP_TASKS_PER_NODE");
    place.local_rank = *local_id;
    place.n_local = tasks == nullptr ? 1 : tasks_on_node(tasks, node);
    place.has_coordinator = node == 0;
  }
  return place;
}

topology::LocalPlace local_place(int rank) {
  return place_in(rank, [](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace sticky::cli
