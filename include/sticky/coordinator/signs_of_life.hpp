#pragma once

#include "sticky/coordinator/periodic.hpp"
#include "sticky/io/run_folder.hpp"
#include "sticky/protocol/transport.hpp"

namespace sticky::coordinator {

/// Tells every worker once a second that the coordinator lives, whatever its main thread does just
/// now: keeping standard input, checking or matching a long file. Workers that hear nothing give
/// up (worker.orphan_timeout).
class WorkerBeats {
 public:
  explicit WorkerBeats(protocol::Transport& transport);

 private:
  Periodic periodic_;
};

/// Renews the lock of the run folder every 10 s, so that it never looks stale. Whether it was lost
/// is asked of the folder.
class LockRenewal {
 public:
  explicit LockRenewal(io::RunFolder& folder);

 private:
  Periodic periodic_;
};

}  // namespace sticky::coordinator
