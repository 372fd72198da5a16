#include "sticky/topology/usable_cpus.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sched.h>
#include <string>
#include <thread>

namespace sticky::topology {
namespace {

i64 cpus_of_affinity() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return std::max(1U, std::thread::hardware_concurrency());  // over 1024 CPUs
}

/// Quota / period as a number of CPUs; "max" or -1 or no file: no limit.
i64 cpus_of_quota(double quota, double period) {
  if (!(quota > 0.0) || !(period > 0.0)) return std::numeric_limits<i64>::max();
  return std::max<i64>(1, std::llround(std::ceil(quota / period)));
}

double number_in(std::istream& in) {
  double value = 0.0;
  return in >> value ? value : 0.0;
}

i64 cpus_of_cgroup() {
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  const double quota = number_in(v2);  // fails on "max"
  const i64 limit = cpus_of_quota(quota, quota > 0.0 ? number_in(v2) : 0.0);
  std::ifstream v1_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  return std::min(limit, cpus_of_quota(number_in(v1_quota), number_in(v1_period)));
}

}  // namespace

i64 usable_cpus() {
  return std::max<i64>(1, std::min(cpus_of_affinity(), cpus_of_cgroup()));
}

}  // namespace sticky::topology
