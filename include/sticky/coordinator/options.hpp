#pragma once

#include <string>

#include "sticky/base/types.hpp"

namespace sticky::coordinator {

struct Options {
  i64 attempts =
      3;  ///< deaths of workers a request may be in flight in before it is recorded as failed
  double grace_seconds = 60.0;      ///< how long a drain may take
  double time_limit_seconds = 0.0;  ///< 0: none. The run drains in time and exits 4
  double heartbeat_timeout_seconds = 5.0;
  double hang_seconds =
      60.0;  ///< work held and no engine step for max(this, 20 x the longest step so far)
  double load_timeout_seconds = 600.0;  ///< a state that loads longer is lost
  i64 max_readers = 4;                  ///< hosts whose first worker loads at the same time; 0: all
  i64 batch = 0;  ///< invocations in one message; 0: as many as fit the worker's free slots
  i64 max_queued_bytes = 256 << 20;  ///< input lines read ahead and not yet recorded
};

}  // namespace sticky::coordinator
