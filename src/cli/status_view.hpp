#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"

#include "progress_line.hpp"

namespace sticky::cli {

/// How fast each worker answers, over the last minute of a run that is looked at again and again.
class WorkerRates {
 public:
  void update(const Json& status);
  /// Requests a minute; of the whole time since the worker was first seen while that is shorter.
  [[nodiscard]] double of(i64 worker) const;

 private:
  struct Look {
    double seconds = 0.0;
    i64 n_done = 0;
  };
  std::map<i64, std::deque<Look>> looks_;
};

/// A line for each worker of the run so far, under a line of titles.
[[nodiscard]] std::vector<std::string> worker_lines(const Json& status);
/// The same of those that are there, with their rates.
[[nodiscard]] std::vector<std::string> worker_lines(const Json& status, const WorkerRates& rates);
/// "lost: worker 3 after 00:01:12: died: its process has ended (4 requests went back)".
[[nodiscard]] std::vector<std::string> loss_lines(const Json& status);
/// "4 workers wanted, 2 on their way; …" of status.json's "resize"; empty when it has none or
/// nothing to tell.
[[nodiscard]] std::string wish_line(const Json& status);

/// A run that is looked at every second: what happened to its workers since the last look, and the
/// picture of now.
class WatchedRun {
 public:
  /// Takes the status of now. What is new: "[00:00:12] worker 3 is ready". The first look tells of
  /// losses only.
  std::vector<std::string> look(const Json& status);

  /// The progress line; empty before the run has counted anything.
  [[nodiscard]] const std::string& progress() const { return progress_; }
  /// Progress, workers and the last events, in at most `n_lines` lines: what does not fit is
  /// counted.
  [[nodiscard]] std::vector<std::string> picture(i64 n_lines) const;

 private:
  void tell(double seconds, const std::string& text, std::vector<std::string>& out);
  void see_workers(double now, std::vector<std::string>& out);
  void see_losses(std::vector<std::string>& out);

  Json status_;
  std::string progress_;
  RateMeter rates_;
  WorkerRates worker_rates_;
  bool is_first_ = true;
  std::map<i64, std::string> states_;  // by worker
  i64 n_losses_ = 0;
  std::deque<std::string> events_;
};

}  // namespace sticky::cli
