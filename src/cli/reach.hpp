#pragma once

#include <string>

namespace sticky::cli {

/// Why no process can be started on a host by the remote shell that Open MPI uses; empty when it
/// can, when the host is this one, or when something else than ssh starts processes. Asked before
/// MPI is, because mpirun ends the whole run when its own try fails. Blocks for some seconds.
[[nodiscard]] std::string why_out_of_reach(const std::string& host);

}  // namespace sticky::cli
