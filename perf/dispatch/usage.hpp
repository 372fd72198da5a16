#pragma once

#include <ctime>
#include <fstream>
#include <unistd.h>

#include "sticky/base/types.hpp"

namespace sticky::perf {

/// What this process has used up so far.
struct Usage {
  double wall_seconds = 0.0;
  double cpu_seconds = 0.0;     ///< of all its threads
  double thread_seconds = 0.0;  ///< of the calling one

  friend Usage operator-(const Usage& a, const Usage& b) {
    return {a.wall_seconds - b.wall_seconds, a.cpu_seconds - b.cpu_seconds,
            a.thread_seconds - b.thread_seconds};
  }
};

inline double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline Usage usage() {
  return {seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_PROCESS_CPUTIME_ID),
          seconds_of(CLOCK_THREAD_CPUTIME_ID)};
}

/// Bytes of memory that are this process's own now: what it shares with others – the segments of
/// the MPI library – does not count.
inline i64 own_memory_bytes() {
  i64 n_virtual = 0, n_resident = 0, n_shared = 0;
  std::ifstream("/proc/self/statm") >> n_virtual >> n_resident >> n_shared;
  return (n_resident - n_shared) * ::sysconf(_SC_PAGESIZE);
}

}  // namespace sticky::perf
