#include "run_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/regular_file.hpp"

#include "launch_line.hpp"

namespace sticky::cli {

namespace fs = std::filesystem;

namespace {

constexpr i64 kLastExitCode = 5;

bool is_count(const Json* member) {
  return member != nullptr && member->is_integer() && member->as_integer() >= 0;
}

// What is wrong with it; empty: nothing that a reader would stumble over.
std::string damage_of(const Json& summary) {
  if (!summary.is_object()) return fmt::format("it is {}, not an object", summary.kind_name());
  const Json* code = summary.find("exit_code");
  if (!is_count(code) || code->as_integer() > kLastExitCode)
    return fmt::format("exit_code is {}, not one of 0 to {}",
                       code == nullptr ? "missing" : code->dump(), kLastExitCode);
  const Json* ending = summary.find("ending");
  if (ending == nullptr || !ending->is_string()) return "ending is no text";
  const Json* counts = summary.find("counts");
  if (counts == nullptr) return "";
  if (!counts->is_object()) return "counts is no object";
  for (const char* name : {"requests", "results", "errors", "unanswered"})
    if (!is_count(counts->find(name))) return fmt::format("counts.{} is no count", name);
  return "";
}

// Makes a folder and those above it, and takes away again what it made.
std::error_code try_folder(const fs::path& folder) {
  std::vector<fs::path> made;
  std::error_code error;
  for (fs::path at = folder; !at.empty() && !fs::exists(at, error); at = at.parent_path())
    made.push_back(at);
  std::error_code outcome;
  fs::create_directories(folder, outcome);
  for (const fs::path& at : made)
    fs::remove(at, error);
  return outcome;
}

}  // namespace

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
  const std::string path = (fs::path(run_dir) / "summary.json").string();
  std::error_code ignored;
  if (fs::symlink_status(path, ignored).type() == fs::file_type::not_found) return std::nullopt;
  auto summary = read_json_file(path);
  const std::string damage = summary ? damage_of(*summary) : "it cannot be read as JSON";
  if (damage.empty()) return summary;
  fail<FormatError>(
      "{} is damaged: {}. The records are not touched by that; bring it back with: {}", path,
      damage, resume_line(run_dir));
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

i64 count_records(const std::string& run_dir, const char* name) {
  std::ifstream in(fs::path(run_dir) / name, std::ios::binary);
  return std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n');
}

std::string current_directory() {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) fail<ConfigError>("the current directory cannot be told: {}", error.message());
  return here.string();
}

std::string absolute_path(const std::string& path) {
  return fs::path(path).is_absolute() ? path : (fs::path(current_directory()) / path).string();
}

void check_run_dir(const std::string& run_dir) {
  if (run_dir.empty()) fail<ConfigError>("output.dir is empty");
  const fs::path folder = fs::path(absolute_path(run_dir)).lexically_normal();
  std::error_code error;
  if (fs::is_directory(folder, error)) {
    if (access(folder.c_str(), W_OK | X_OK) == 0) return;
    error = {errno, std::generic_category()};
  } else if (fs::exists(folder, error)) {
    error = std::make_error_code(std::errc::not_a_directory);
  } else {
    error = try_folder(folder);
  }
  if (error)
    fail<ConfigError>("output.dir: {} cannot be a run folder: {}", run_dir, error.message());
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
