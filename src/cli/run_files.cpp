#include "run_files.hpp"

#include <array>
#include <ctime>
#include <filesystem>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/regular_file.hpp"

#include "launch_line.hpp"

namespace sticky::cli {

namespace fs = std::filesystem;

std::optional<Json> read_json_file(const std::string& path) {
  try {
    return Json::parse(read_regular_file(path));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<Json> read_status(const std::string& run_dir) {
  return read_json_file((fs::path(run_dir) / "status.json").string());
}

std::optional<Json> read_summary(const std::string& run_dir) {
  return read_json_file((fs::path(run_dir) / "summary.json").string());
}

std::optional<Json> read_job(const std::string& run_dir) {
  return read_json_file((fs::path(run_dir) / "job.json").string());
}

std::optional<Json> read_lock(const std::string& run_dir) {
  return read_json_file((fs::path(run_dir) / "lock").string());
}

bool holds_run(const std::string& run_dir) {
  std::error_code error;
  for (const char* name : {"results.jsonl", "errors.jsonl"}) {
    if (fs::exists(fs::path(run_dir) / name, error)) return true;
  }
  // One that was refused before any work leaves a summary, and may be repeated.
  const auto summary = read_summary(run_dir);
  return summary && summary->find("counts") != nullptr;
}

std::string new_run_dir(const std::string& job, i64 unix_seconds) {
  const std::time_t now = unix_seconds;
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  const std::size_t n = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &utc);
  return fmt::format("runs/{}-{}", job, std::string_view(text.data(), n));
}

std::string resume_line(const std::string& run_dir) {
  return shell_quoted({"stickyinvoc", "resume", run_dir});
}

}  // namespace sticky::cli
