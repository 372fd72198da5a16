#pragma once

#include <string>
#include <string_view>

namespace sticky::comm {

enum class MpiKind { open_mpi, mpich, intel_mpi, mvapich, unknown };

/// What an MPI library can carry of a run that grows, shrinks and loses workers. As measured
/// (docs/decisions/0012-open-mpi.md); a library that was not measured is trusted with a fixed world
/// only.
struct Capability {
  MpiKind implementation = MpiKind::unknown;
  std::string name = "an unknown MPI";  ///< "Open MPI 4.1.4"
  int major = 0;
  int minor = 0;
  bool can_spawn = false;           ///< more workers on hosts of the launch
  bool can_spawn_on_hosts = false;  ///< and on hosts that come later
  bool can_survive_loss = false;    ///< of a worker, with the launcher's `survival_flag`
  std::string survival_flag = {};   ///< "--enable-recovery", "--with-ft ulfm"; empty: none
  bool can_join = false;            ///< a launch of its own connects to a running one
};

/// Reads what MPI_Get_library_version gives. Of a text of another form only the name is known.
[[nodiscard]] Capability capability_of(std::string_view library_version);

/// One line for people, without the name: "workers may be added on any host, …".
[[nodiscard]] std::string sentence(const Capability& capability);

/// What MPI_Get_library_version gives, its first line. Needs no MPI_Init.
[[nodiscard]] std::string library_version();

}  // namespace sticky::comm
