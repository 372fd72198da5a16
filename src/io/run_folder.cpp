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

bool holds_run(const std::string& dir) {
  for (const char* name : {"/results.jsonl", "/errors.jsonl", "/summary.json"})
    if (exists(dir + name)) return true;
  return false;
}

void check_mode(const std::string& dir, RunFolder::Mode mode) {
  const bool has_run = holds_run(dir);
  if (mode == RunFolder::Mode::create && has_run)
    fail<ConfigError>("{}: the folder holds a run already; go on with it: stickyinvoc resume {}",
                      dir, dir);
  if (mode == RunFolder::Mode::resume && !has_run)
    fail<ConfigError>("{}: holds no run to resume (no results.jsonl, errors.jsonl or summary.json)",
                      dir);
}

class LockedFolder final : public RunFolder {
 public:
  LockedFolder(std::string dir, Mode mode)
      : dir_(std::move(dir)),
        lock_(dir_ + "/lock"),
        is_resumed_(holds_run(dir_)) {
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

std::unique_ptr<RunFolder> RunFolder::open(const std::string& dir, Mode mode) {
  check_mode(dir, mode);
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) fail<SystemError>("{}: cannot be made: {}", dir, error.message());
  return std::make_unique<LockedFolder>(dir, mode);
}

}  // namespace sticky::io
