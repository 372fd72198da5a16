#include "run_files.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>

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

bool shows_run(const std::string& run_dir) {
  constexpr std::array kFiles{"job.json", "lock", "results.jsonl", "errors.jsonl", "summary.json"};
  return std::ranges::any_of(kFiles, [&](const char* name) {
    std::error_code ignored;
    return fs::is_regular_file(fs::path(run_dir) / name, ignored);
  });
}

bool append_to_log(const std::string& run_dir, std::string_view text) {
  const fs::path path = fs::path(run_dir) / "run.log";
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  std::ofstream log(path, std::ios::binary | std::ios::app);
  log << text << std::flush;
  return log.good();
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
