#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sticky/base/ids.hpp"
#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"
#include "sticky/malleability/resize_status.hpp"

namespace sticky::coordinator {

/// One worker, as people want to see it.
struct WorkerStatus {
  WorkerId worker;
  std::string state;  ///< joining | loading | ready | leaving | left | lost
  std::string host;
  i64 pid = 0;
  std::string description;  ///< model, device, threads; empty until ready
  std::string arithmetic;
  i64 slots = 0;
  i64 n_held = 0;
  i64 n_results = 0;
  i64 n_errors = 0;
  i64 prompt_tokens = 0;
  i64 completion_tokens = 0;
  double load_seconds = 0.0;
  // Since the start of the run.
  double joined_seconds = 0.0;  ///< when it was first heard of
  std::optional<double> ready_seconds = std::nullopt;
  std::optional<double> gone_seconds = std::nullopt;  ///< when it was lost or had said goodbye
};

/// A worker that is gone before its time.
struct Loss {
  WorkerId worker;     ///< negative: a newcomer that never came
  std::string cause;   ///< died | frozen | hung | load_failed | device_failed | never_joined | …
  std::string reason;  ///< a sentence
  double at_seconds = 0.0;  ///< since the start of the run
  i64 n_returned = 0;       ///< invocations it held, which others got
};

/// Counts of requests. results + errors = requests of the whole run folder once it is complete.
struct Counts {
  i64 n_read = 0;         ///< input lines so far, blank ones not counted
  i64 n_done_before = 0;  ///< of them: recorded by an earlier run of this folder
  // What earlier runs of this folder left, whether this run has come across its lines yet or not.
  i64 n_results_before = 0;
  i64 n_errors_before = 0;
  i64 n_results = 0;      ///< recorded by this run
  i64 n_errors = 0;       ///< recorded by this run
  i64 n_waiting = 0;      ///< read, and on no worker
  i64 n_held = 0;         ///< on a worker
  i64 n_quarantined = 0;  ///< of n_errors: in flight in too many deaths of workers
};

/// About how many requests follow those that are read, not counting what earlier runs answered:
/// judged by the bytes, as if all lines were equally long. 0 while nothing is read or the size is
/// unknown (-1).
[[nodiscard]] i64 n_unread(const Counts& counts, i64 bytes_read, i64 bytes_total);

/// The living state of a run.
struct Progress {
  std::string phase;  ///< running | draining | closing | ended
  double seconds = 0.0;
  Counts counts;
  bool has_input_ended = false;  ///< then n_read is the number of all requests
  i64 input_bytes_read = 0;
  i64 input_bytes_total = -1;  ///< -1: unknown
  i64 prompt_tokens = 0;
  i64 completion_tokens = 0;
  std::vector<WorkerStatus> workers;
  std::vector<Loss> losses;
  malleability::ResizeStatus resize;
};

/// "worker 3"; "a newcomer" for one that never came.
[[nodiscard]] std::string name_of(const Loss& loss);

/// How many of those that are gone, and of the losses, are listed one by one: in status.json, which
/// is written each second, and in summary.json.
inline constexpr i64 kMostGoneInStatus = 20;
inline constexpr i64 kMostGoneInSummary = 1000;
/// Sets "workers" (all that are there and the last that are gone), "losses" (the last), and
/// "workers_left_out" and "losses_left_out", how many more there were.
void set_workers(Json& json, const Progress& progress, i64 most_gone);

/// What status.json holds.
[[nodiscard]] Json to_json(const Progress& progress);
[[nodiscard]] Json to_json(const Counts& counts);
[[nodiscard]] Json to_json(const WorkerStatus& worker);
[[nodiscard]] Json to_json(const Loss& loss);

}  // namespace sticky::coordinator
