#include "sticky/topology/bind.hpp"

#include <algorithm>
#include <sched.h>
#include <string>

#include <fmt/format.h>

#include "sticky/topology/cpu_list.hpp"
#include "sticky/topology/usable_cpus.hpp"

namespace sticky::topology {

CpuList own_cpus() {
  CpuList cpus;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (i64 cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

namespace {

// The kernel refuses CPUs outside the cgroup and keeps the rest: asking for all gives what is
// allowed.
CpuList allowed_cpus() {
  const CpuList before = own_cpus();
  cpu_set_t all;
  CPU_ZERO(&all);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    CPU_SET(cpu, &all);
  if (sched_setaffinity(0, sizeof all, &all) != 0) return before;
  return own_cpus();
}

bool use_cpus(const CpuList& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const i64 cpu : cpus)
    CPU_SET(static_cast<std::size_t>(cpu), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

Share share_of(const CpuList& allowed, const LocalPlace& place) {
  if (place.is_coordinator) return {allowed, true};
  const i64 n = static_cast<i64>(allowed.size());
  // The coordinator sleeps most of the time: it gets a CPU of its own only where there are plenty.
  const i64 n_kept = place.has_coordinator && n > 2 ? 1 : 0;
  const i64 first_worker = place.has_coordinator ? 1 : 0;
  const i64 n_workers = std::max<i64>(1, place.n_local - first_worker);
  const i64 worker = std::clamp<i64>(place.local_rank - first_worker, 0, n_workers - 1);
  const i64 n_shared = n - n_kept;
  if (n_workers > n_shared) return {{allowed.begin() + n_kept, allowed.end()}, true};
  const i64 begin = n_kept + n_shared * worker / n_workers;
  const i64 end = n_kept + n_shared * (worker + 1) / n_workers;
  return {{allowed.begin() + begin, allowed.begin() + end}, false};
}

Binding bind_process(const LocalPlace& place) {
  const CpuList found = own_cpus();
  if (place.is_binding_chosen) {
    return {usable_cpus(), fmt::format("binding kept as asked for: CPUs {}", text_of(found))};
  }
  const CpuList allowed = allowed_cpus();
  const auto [share, is_common] = share_of(allowed, place);
  if (share.empty() || !use_cpus(share))
    return {usable_cpus(), fmt::format("binding left as it was: CPUs {}", text_of(found))};
  // A cgroup may grant less time than it shows CPUs, and all ranks of the node draw on it.
  const i64 n_usable = usable_cpus();
  const i64 n_granted = n_usable < static_cast<i64>(share.size())
                            ? std::max<i64>(1, n_usable / place.n_local)
                            : n_usable;
  return {is_common && !place.is_coordinator ? 1 : n_granted,
          fmt::format("CPUs {} of {} allowed (the launcher had given {})", text_of(share),
                      text_of(allowed), text_of(found))};
}

std::string text_of(const CpuList& cpus) {
  std::string text;
  for (std::size_t k = 0; k < cpus.size();) {
    std::size_t last = k;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1)
      ++last;
    if (!text.empty()) text += ',';
    text += last == k ? std::to_string(cpus[k]) : fmt::format("{}-{}", cpus[k], cpus[last]);
    k = last + 1;
  }
  return text.empty() ? "none" : text;
}

}  // namespace sticky::topology
