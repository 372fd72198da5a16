#pragma once

#include <string_view>

namespace sticky::cli {

/// Whether a line is one that Open MPI 4.1's mpirun prints whenever a rank has ended without
/// MPI_Finalize (a lost worker, a rank that gave up), which is no error of the run:
/// "[host:pid] PMIX ERROR: BAD-PARAM in file …/src/event/pmix_event_notification.c at line N".
[[nodiscard]] bool is_mpirun_noise(std::string_view line);

}  // namespace sticky::cli
