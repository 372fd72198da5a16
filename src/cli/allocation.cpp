#include "allocation.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

#include "command_output.hpp"
#include "launch_line.hpp"

namespace sticky::cli {

std::optional<i64> parse_slurm_time(const std::string& text) {
  std::tm local{};
  if (strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &local) == nullptr) return std::nullopt;
  local.tm_isdst = -1;
  return std::mktime(&local);
}

double allocation_seconds_left() {
  const char* job = std::getenv("SLURM_JOB_ID");
  if (job == nullptr) return 0.0;
  // Slurm before 23.02 does not tell the end in the environment.
  const auto end = parse_slurm_time(
      output_of(fmt::format("squeue -h -j {} -o %e 2>/dev/null", shell_quoted({job}))));
  if (!end) return 0.0;
  return std::max(1.0, static_cast<double>(*end - std::time(nullptr)));
}

}  // namespace sticky::cli
