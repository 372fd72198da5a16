#pragma once

#include <deque>
#include <optional>
#include <string>

#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"

namespace sticky::cli {

/// What a progress line tells, taken from a run's status.json.
struct ProgressView {
  std::string phase;  ///< running | draining | closing | ended
  double seconds = 0.0;
  i64 n_done = 0;    ///< records of the folder, earlier runs included
  i64 n_failed = 0;  ///< of this run
  i64 n_total = 0;   ///< requests; an estimate while the input is still read
  bool is_total_known = false;
  i64 n_new = 0;  ///< records of this run: what rates are made of
  i64 prompt_tokens = 0;
  i64 completion_tokens = 0;
  i64 n_ready = 0;    ///< workers
  i64 n_joining = 0;  ///< workers that load, have not yet said anything, or are being spawned
};
/// Nothing when the JSON is no status.
[[nodiscard]] std::optional<ProgressView> view_of(const Json& status);

struct Rates {
  double requests = 0.0;  ///< a second, as the next two
  double prompt_tokens = 0.0;
  double completion_tokens = 0.0;
};

/// Rates over the last minute, so that they follow what is happening.
class RateMeter {
 public:
  [[nodiscard]] Rates update(const ProgressView& view);

 private:
  std::deque<ProgressView> recent_;
};

/// "[00:12:30] 48,210/150,000 (32.1 %)  1,812 req/min  in 5.1k out 2.0k tok/s  failed 12
/// workers 20 (+4 joining)  ETA 00:56": product.md §3. A total that is estimated has a "~".
[[nodiscard]] std::string progress_line(const ProgressView& view, const Rates& rates);

/// "1,234,567"; "950", "5.1k", "2.0M"; "00:12:30".
[[nodiscard]] std::string with_commas(i64 n);
[[nodiscard]] std::string short_number(double value);
[[nodiscard]] std::string clock_time(double seconds);

}  // namespace sticky::cli
