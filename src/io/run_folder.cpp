#include "sticky/io/run_folder.hpp"

#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <optional>

#include "sticky/base/error.hpp"

#include "file.hpp"
#include "folder_lock.hpp"

namespace sticky::io {

namespace {

// Whether a run has got far enough to be gone on with: job.json is the first file of every run.
bool is_resumable(const std::string& dir) {
  for (const char* name : {"/job.json", "/results.jsonl", "/errors.jsonl", "/summary.json"})
    if (exists(dir + name)) return true;
  return false;
}

void check_mode(const std::string& dir, RunFolder::Mode mode) {
  if (mode == RunFolder::Mode::create && RunFolder::holds_records(dir))
    fail<ConfigError>("{}: the folder holds a run already; go on with it: stickyinvoc resume {}",
                      dir, dir);
  if (mode == RunFolder::Mode::resume && !is_resumable(dir))
    fail<ConfigError>("{}: holds no run to resume (no job.json, results.jsonl or errors.jsonl)",
                      dir);
}

class LockedFolder final : public RunFolder {
 public:
  LockedFolder(std::string dir, Mode mode)
      : dir_(std::move(dir)),
        lock_(dir_ + "/lock"),
        is_resumed_(mode == Mode::resume || holds_records(dir_)) {
    check_mode(dir_, mode);  // again: another run may have come and gone before the lock was ours
    log_.emplace(File::open(dir_ + "/run.log", O_WRONLY | O_CREAT | O_APPEND));
  }

  [[nodiscard]] const std::string& path() const override { return dir_; }
  [[nodiscard]] bool is_resumed() const override { return is_resumed_; }

  [[nodiscard]] bool beat() override {
    const std::lock_guard guard(mutex_);
    is_lost_ = is_lost_ || !lock_.beat();
    return !is_lost_;
  }

  [[nodiscard]] bool holds_lock() const override {
    const std::lock_guard guard(mutex_);
    is_lost_ = is_lost_ || !lock_.is_held();
    return !is_lost_;
  }

  void write_file(const std::string& name, std::string_view text) override {
    if (!holds_lock())
      fail<SystemError>("{}/{}: not written: the run folder's lock is lost", dir_, name);
    replace_file(dir_ + "/" + name, text);
  }

  void log_line(std::string_view line) noexcept override {
    const std::lock_guard guard(mutex_);
    if (is_lost_) return;
    (void)log_->try_write(line);
    (void)log_->try_write("\n");
  }

 private:
  std::string dir_;
  mutable std::mutex mutex_;
  FolderLock lock_;
  mutable bool is_lost_ = false;  // once lost, for ever
  bool is_resumed_;
  std::optional<File> log_;
};

}  // namespace

bool RunFolder::holds_records(const std::string& dir) {
  for (const char* name : {"results.jsonl", "errors.jsonl", "superseded.jsonl"}) {
    std::error_code error;
    const auto n_bytes = std::filesystem::file_size(std::filesystem::path(dir) / name, error);
    if (!error && n_bytes > 0) return true;
  }
  return false;
}

std::unique_ptr<RunFolder> RunFolder::open(const std::string& dir, Mode mode) {
  check_mode(dir, mode);
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) fail<SystemError>("{}: cannot be made: {}", dir, error.message());
  return std::make_unique<LockedFolder>(dir, mode);
}

}  // namespace sticky::io
