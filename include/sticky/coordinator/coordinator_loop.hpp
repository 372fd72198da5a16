#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sticky/base/clock.hpp"
#include "sticky/coordinator/options.hpp"
#include "sticky/coordinator/progress.hpp"
#include "sticky/coordinator/workforce.hpp"
#include "sticky/io/input_reader.hpp"
#include "sticky/io/results_log.hpp"
#include "sticky/io/resume.hpp"
#include "sticky/io/run_folder.hpp"
#include "sticky/protocol/processes.hpp"
#include "sticky/protocol/transport.hpp"

namespace sticky::coordinator {

/// What the user or the system wants of a run that goes on.
enum class StopWish {
  none,
  drain,  ///< finish what runs, within the grace time
  now,    ///< hand everything back and end
};

/// What a run needs from around it.
struct Surroundings {
  protocol::Transport& transport;
  protocol::Processes& processes;
  io::ResultsLog& results;
  io::RunFolder& folder;
  const Clock& clock;
  Doors doors = {};
  /// Asked at every turn.
  std::function<StopWish()> stop_wish = [] { return StopWish::none; };
  /// Called about twice a second.
  std::function<void(const Progress&)> on_progress = [](const Progress&) {};
};

/// What is to be answered. The reader runs on a thread of its own, which may be stuck in a read of
/// standard input when the run ends: so the run owns it.
struct Work {
  std::unique_ptr<io::InputReader> input;
  std::unique_ptr<io::Done> done;   ///< null: a new run
  std::string worker_options_json;  ///< sent to each worker
  std::string state_name;           ///< for records that the coordinator writes itself
  /// Whether the state goes by this name; when it does not, it answers all the same, with one
  /// warning a run.
  std::function<bool(std::string_view model)> serves = [](std::string_view) { return true; };
};

enum class Ending {
  complete,        ///< every request has its record
  drained,         ///< asked to stop, or out of time
  workers_lost,    ///< no worker is left and none can come
  load_failed,     ///< no worker could create its state
  input_failed,    ///< the input could not be read to its end; what was read has its record
  journal_failed,  ///< results can no longer be written
  lock_lost,       ///< another coordinator has taken the run folder
};
[[nodiscard]] const char* name_of(Ending ending);

struct RunOutcome {
  Ending ending = Ending::complete;
  std::string reason;  ///< a sentence; empty when complete
  int exit_code = 0;   ///< 0 | 2 | 3 | 4 | 5, as product.md §3
  /// No link was ever lost and every worker said goodbye: MPI may be finalized.
  bool may_finalize = false;
  Progress last;  ///< counts, workers, losses, tokens, seconds
};

/// Answers all of `work`, or as much as can be, and writes results.jsonl, errors.jsonl and
/// status.json. Returns when every worker has left or is fenced. Throws nothing for what happens to
/// workers, input or output.
[[nodiscard]] RunOutcome run_coordinator(const Options& options,
                                         Work work,
                                         const Surroundings& surroundings);

}  // namespace sticky::coordinator
