#pragma once

#include <string>

#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"
#include "sticky/config/load.hpp"
#include "sticky/coordinator/coordinator_loop.hpp"

namespace sticky::cli {

/// Where the time of a run went, in seconds.
struct Phases {
  double prepare = 0.0;  ///< configuration, run folder, reading an earlier run
  double run = 0.0;      ///< from the first word to workers to the last of them leaving
  double finish = 0.0;   ///< last results to disk, sorting
};

/// What a finished run tells beside what the coordinator knows.
struct RunFacts {
  std::string run_dir;
  i64 started = 0;  ///< Unix seconds
  i64 ended = 0;
  Phases phases;
  std::string mpi_library;
  std::string mpi_capability;
  i64 n_ranks = 1;
};

/// What summary.json holds: product.md §3.
[[nodiscard]] Json summary_json(const coordinator::RunOutcome& outcome,
                                const RunFacts& facts,
                                const config::Loaded& loaded);

/// The summary of a run that ended before any work; `outcome.ending` says nothing then, its counts
/// are those of the folder.
[[nodiscard]] Json failed_summary(const coordinator::RunOutcome& outcome,
                                  const RunFacts& facts,
                                  const config::Loaded& loaded);

/// The same for people: several lines, ending in a newline. `why_not_written`: of summary.json;
/// empty when it stands there.
[[nodiscard]] std::string summary_text(const Json& summary,
                                       const std::string& run_dir,
                                       const std::string& why_not_written = "");

/// "2026-01-02T03:04:05Z".
[[nodiscard]] std::string utc_text(i64 unix_seconds);

}  // namespace sticky::cli
