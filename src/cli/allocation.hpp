#pragma once

#include <optional>
#include <string>

#include "sticky/base/types.hpp"

namespace sticky::cli {

/// Unix seconds of what `squeue -o %e` prints, "2026-01-02T03:04:05" in local time; nothing for
/// another form ("Unknown", "NONE").
[[nodiscard]] std::optional<i64> parse_slurm_time(const std::string& text);

/// Seconds until this Slurm job's allocation ends, asked of squeue; 0 outside of Slurm and where it
/// has no end. At least 1 where there is an end.
[[nodiscard]] double allocation_seconds_left();

}  // namespace sticky::cli
