#pragma once

#include "sticky/base/json.hpp"
#include "sticky/coordinator/progress.hpp"

namespace sticky::coordinator {

/// The life of every worker of a run in Chrome's trace event format (timestamps and durations in
/// microseconds since the start of the run), as Perfetto and chrome://tracing open it: a process a
/// host, a thread a worker, on it the spans "starting", "loading" and "serving" and how it ended;
/// beside them the number of ready workers as a counter. One that still lives serves until
/// `progress.seconds`.
[[nodiscard]] Json timeline_json(const Progress& progress);

}  // namespace sticky::coordinator
