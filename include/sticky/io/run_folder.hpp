#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"

namespace sticky::io {

/// The folder of one run and the lock that keeps a second coordinator out. Every write is checked;
/// SystemError names path and reason. All may be called from any thread.
///
/// The lock is a file `lock` {token, job, host, pid, start_ticks, boot_id, pid_namespace, beat},
/// made with O_EXCL. Whoever holds it renews `beat` in place; a taker renames a stale lock away
/// before it makes its own, so the old holder finds another token at its next beat.
/// It is in use while its process lives (same host, boot and pid namespace: known at once) or, seen
/// from elsewhere, while its beat is younger than 60 s.
class RunFolder {
 public:
  enum class Mode {
    create,            ///< ConfigError with the resume line when the folder holds records
    resume,            ///< ConfigError when no run ever began in it
    create_or_resume,  ///< resumes when it holds records
  };
  /// Makes the folder and takes the lock: ConfigError naming host, pid and age of the holder while
  /// another one is in use. A folder that is refused is not touched.
  ///
  /// So a run that was refused before any work (a summary, no record) can be repeated in its folder
  /// once the user has put its input right, and one that was killed at any moment after job.json
  /// was written can be resumed; killed before that, it has left nothing and is started again.
  static std::unique_ptr<RunFolder> open(const std::string& dir, Mode mode);
  /// Whether a byte of work stands in results.jsonl, errors.jsonl or superseded.jsonl.
  [[nodiscard]] static bool holds_records(const std::string& dir);

  RunFolder() = default;
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  virtual ~RunFolder() = default;  ///< releases the lock

  [[nodiscard]] virtual const std::string& path() const = 0;
  [[nodiscard]] virtual bool is_resumed() const = 0;
  /// Renews the lock; false when someone else has taken it: stop writing at once.
  [[nodiscard]] virtual bool beat() = 0;
  /// Whether the lock is still ours, looked up now.
  [[nodiscard]] virtual bool holds_lock() const = 0;
  /// Replaces a file of the folder whole: temporary file, fsync, rename. SystemError once the lock
  /// is lost.
  virtual void write_file(const std::string& name, std::string_view text) = 0;
  /// Appends a line to run.log; never throws (a full disk must not end the run through its log).
  virtual void log_line(std::string_view line) noexcept = 0;
};

}  // namespace sticky::io
