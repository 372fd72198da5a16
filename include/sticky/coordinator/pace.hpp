#pragma once

#include <algorithm>
#include <chrono>

#include "sticky/base/clock.hpp"
#include "sticky/base/types.hpp"

namespace sticky::coordinator {

/// How many results a second one worker gives: a running mean with weight 1/4 over windows in each
/// of which it answered a quarter of its slots. Only time in which it holds work counts.
///
/// A worker with little to do gives less than it could. So a window in which it held less than half
/// its slots counts only if it shows more than the mean (as BBR, Cardwell et al. 2016, takes
/// samples that the application limited). O(1) a message.
class Pace {
 public:
  /// Work comes to a worker that held none.
  void begin(TimePoint now) { since_ = now; }
  /// The whole job stood still for so long.
  void forgive(Duration pause, TimePoint now) { since_ = std::min(since_ + pause, now); }
  /// n results came from a worker that held `n_held` before them.
  void note(i64 n, i64 n_held, i64 slots, TimePoint now) {
    n_ += n;
    busy_ += now - since_;
    since_ = now;
    is_limited_ = is_limited_ || 2 * n_held < slots;
    if (4 * n_ < slots || busy_ <= Duration{}) return;
    const double seen = static_cast<double>(n_) / seconds(busy_);
    if (rate_ <= 0.0)
      rate_ = seen;
    else if (!is_limited_ || seen > rate_)
      rate_ += (seen - rate_) / 4.0;
    n_ = 0;
    busy_ = {};
    is_limited_ = false;
  }
  [[nodiscard]] bool is_known() const { return rate_ > 0.0; }
  [[nodiscard]] double rate() const { return rate_; }
  /// What the worker can be expected to do from now on, `otherwise` while nothing is known: no more
  /// than if it answered all that it holds at this moment. So one that stands still becomes slow.
  [[nodiscard]] double expected(double otherwise, i64 n_held, TimePoint now) const {
    const double rate = is_known() ? rate_ : otherwise;
    if (n_held == 0) return rate;
    const double elapsed = seconds(busy_ + (now - since_));
    return elapsed <= 0.0 ? rate : std::min(rate, static_cast<double>(n_ + n_held) / elapsed);
  }

 private:
  static double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

  double rate_ = 0.0;
  i64 n_ = 0;  // in this window
  bool is_limited_ = false;
  Duration busy_{};  // of this window, up to since_
  TimePoint since_{};
};

}  // namespace sticky::coordinator
