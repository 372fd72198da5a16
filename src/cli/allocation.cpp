#include "allocation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "command_output.hpp"
#include "launch_line.hpp"

namespace sticky::cli {
namespace {

constexpr i64 kMinute = 60;

std::optional<i64> local_time(const std::string& text, const char* form) {
  std::tm local{};
  if (strptime(text.c_str(), form, &local) == nullptr) return std::nullopt;
  local.tm_isdst = -1;
  return std::mktime(&local);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<i64> whole_number(std::string_view digits) {
  i64 value = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || value < 0) return std::nullopt;
  return value;
}

// "3600", "60:00", "1:00:00" or "1:00:00:00" in units of the last part; parts are worth `factors`
// of the part behind them, from the back.
std::optional<i64> colon_number(std::string_view text, std::initializer_list<i64> factors) {
  i64 sum = 0;
  i64 worth = 1;
  for (const i64 factor : factors) {
    const auto colon = text.rfind(':');
    const auto part = whole_number(colon == std::string_view::npos ? text : text.substr(colon + 1));
    if (!part || *part > std::numeric_limits<i32>::max()) return std::nullopt;
    sum += *part * worth;
    if (colon == std::string_view::npos) return sum;
    text = text.substr(0, colon);
    worth *= factor;
  }
  return std::nullopt;
}

// The value of a line "    NAME = VALUE"; empty: there is none.
std::string attribute(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const auto equals = line.find(" = ");
    if (equals != std::string_view::npos && trimmed(line.substr(0, equals)) == name)
      return std::string(trimmed(line.substr(equals + 3)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return {};
}

std::optional<i64> left_until(std::optional<i64> end) {
  return end ? std::optional(*end - static_cast<i64>(std::time(nullptr))) : std::nullopt;
}

struct Manager {
  const char* job_variable;  // set inside its jobs
  const char* command;       // {}: the job
  std::optional<i64> (*seconds_left)(const std::string& printed);
};

// Slurm before 23.02 does not tell the end in the environment, the others never do.
constexpr std::array<Manager, 4> kManagers{{
    {"SLURM_JOB_ID", "squeue -h -j {} -o %e 2>/dev/null",
     [](const std::string& printed) { return left_until(parse_slurm_end(printed)); }},
    {"PBS_JOBID", "qstat -f {} 2>/dev/null",
     [](const std::string& printed) { return left_until(parse_pbs_end(printed)); }},
    {"LSB_JOBID", "bjobs -noheader -o time_left {} 2>/dev/null", parse_lsf_time_left},
    {"FLUX_JOB_ID", "flux job timeleft {} 2>/dev/null", parse_flux_time_left},
}};

}  // namespace

std::optional<i64> parse_slurm_end(const std::string& text) {
  return local_time(text, "%Y-%m-%dT%H:%M:%S");
}

std::optional<i64> parse_pbs_end(const std::string& text) {
  const std::string limit = attribute(text, "Resource_List.walltime");
  std::string start = attribute(text, "stime");
  if (start.empty()) start = attribute(text, "start_time");
  const auto seconds = colon_number(limit, {60, 60, 24, 1});
  const auto begin = local_time(start, "%a %b %d %H:%M:%S %Y");
  if (!seconds || !begin) return std::nullopt;
  return *begin + *seconds;
}

std::optional<i64> parse_lsf_time_left(const std::string& text) {
  const std::string_view line = trimmed(text);
  const auto blank = line.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto minutes = colon_number(line.substr(0, blank), {60, 1});
  const std::string_view kind = trimmed(line.substr(blank));
  if (!minutes || (kind != "L" && kind != "X")) return std::nullopt;
  return kind == "X" ? 0 : *minutes * kMinute;
}

std::optional<i64> parse_flux_time_left(const std::string& text) {
  const auto seconds = whole_number(trimmed(text));
  if (!seconds || *seconds >= std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return seconds;
}

double allocation_seconds_left() {
  std::optional<i64> nearest;
  for (const Manager& manager : kManagers) {
    const char* job = std::getenv(manager.job_variable);
    if (job == nullptr) continue;
    const auto left = manager.seconds_left(
        output_of(fmt::format(fmt::runtime(manager.command), shell_quoted({job}))));
    if (left && (!nearest || *left < *nearest)) nearest = left;
  }
  return nearest ? static_cast<double>(std::max<i64>(1, *nearest)) : 0.0;
}

}  // namespace sticky::cli
