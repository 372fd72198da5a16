#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"

namespace sticky::cli {

// Files of a run folder as other processes read them: each is replaced whole, so one that is there
// is complete. Nothing when a file is missing or no JSON.
[[nodiscard]] std::optional<Json> read_json_file(const std::string& path);
[[nodiscard]] std::optional<Json> read_status(const std::string& run_dir);
/// FormatError where it is there and cannot be trusted: no JSON, an exit code that is none, counts
/// that are no counts.
[[nodiscard]] std::optional<Json> read_summary(const std::string& run_dir);
[[nodiscard]] std::optional<Json> read_job(const std::string& run_dir);
[[nodiscard]] std::optional<Json> read_lock(const std::string& run_dir);

/// Whether a folder shows a run, finished or not, whatever it has come to. Whether there is work
/// in it to keep: io::RunFolder::holds_records().
[[nodiscard]] bool shows_run(const std::string& run_dir);

/// Adds to a run.log that is there already; false when it is not, or cannot be written.
bool append_to_log(const std::string& run_dir, std::string_view text);

/// Lines of a file of records, a torn last one not counted; 0 when there is none.
[[nodiscard]] i64 count_records(const std::string& run_dir, const char* name);

/// The current directory, and a path from there. ConfigError where that directory is gone.
[[nodiscard]] std::string current_directory();
[[nodiscard]] std::string absolute_path(const std::string& path);

/// Throws ConfigError where no run can be written: something else has the name, or the folder
/// cannot be made or written in. Leaves nothing behind.
void check_run_dir(const std::string& run_dir);

/// "runs/<job>-<UTC>" as in runs/claims-20260102T030405Z.
[[nodiscard]] std::string new_run_dir(const std::string& job, i64 unix_seconds);

/// "stickyinvoc resume DIR".
[[nodiscard]] std::string resume_line(const std::string& run_dir);

}  // namespace sticky::cli
