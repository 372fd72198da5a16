#pragma once

#include <optional>
#include <string>

#include "sticky/base/types.hpp"

namespace sticky::cli {

// What the tools of workload managers print about the end of a job, read. Each gives nothing for a
// job without an end and for a text of another form.

/// Unix seconds of what `squeue -o %e` prints, "2026-01-02T03:04:05" in local time. Ran under Slurm
/// 22.05; the others follow the manuals and have not met their managers yet.
[[nodiscard]] std::optional<i64> parse_slurm_end(const std::string& text);

/// Unix seconds of the end by `qstat -f JOB` (OpenPBS, PBS Professional, Torque): stime or
/// start_time, in local time, and Resource_List.walltime.
[[nodiscard]] std::optional<i64> parse_pbs_end(const std::string& text);

/// Seconds left by `bjobs -noheader -o time_left JOB`: "1:05 L", hours and minutes before a run
/// limit. An estimate ("E") is no limit; one that is past ("X") leaves 0.
[[nodiscard]] std::optional<i64> parse_lsf_time_left(const std::string& text);

/// Seconds left by `flux job timeleft`: a number; UINT_MAX is "no limit".
[[nodiscard]] std::optional<i64> parse_flux_time_left(const std::string& text);

/// Seconds until the allocation ends that this process runs in, asked of Slurm, PBS, LSF or Flux;
/// of several (Flux inside Slurm) the nearest. 0 where there is none or it has no end; at least 1
/// where there is an end.
[[nodiscard]] double allocation_seconds_left();

}  // namespace sticky::cli
