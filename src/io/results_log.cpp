// One thread owns both files. It takes what is queued in one go, writes each file's share with one
// write(2), and fsyncs at most twice a second, so that a slow file system delays nobody but itself.
#include "sticky/io/results_log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sticky/base/error.hpp"

#include "file.hpp"

namespace sticky::io {

namespace {

constexpr std::chrono::milliseconds kSyncInterval{500};

File open_whole(const std::string& path) {
  cut_torn_line(path);
  return File::open(path, O_WRONLY | O_CREAT | O_APPEND);
}

// The first failure is the one to tell.
void keep_first(std::string& error, std::string text) {
  if (error.empty()) error = std::move(text);
}

// A journal file that always ends with a whole line.
class Journal {
 public:
  explicit Journal(const std::string& path) : file_(open_whole(path)), size_(file_.size()) {}

  void add(std::string_view line) {
    pending_ += line;
    pending_ += '\n';
  }

  // Writes what was added and gives the number of lines; an error text when not all could be
  // written: the lines before it stay, the torn one is cut off again.
  i64 write_pending(std::string& error) {
    const std::string_view bytes = pending_;
    const File::Written written = file_.try_write(bytes);
    std::string_view whole = bytes.substr(0, static_cast<std::size_t>(written.n_bytes));
    if (written.error != 0) {
      whole = whole.substr(0, whole.rfind('\n') + 1);
      keep_first(error, fmt::format("{}: {}", file_.path(), reason(written.error)));
    }
    const auto n_whole_bytes = static_cast<i64>(whole.size());
    size_ += n_whole_bytes;
    if (written.n_bytes > n_whole_bytes) cut_back(error);
    is_dirty_ = is_dirty_ || n_whole_bytes > 0;
    const i64 n_lines = std::ranges::count(whole, '\n');
    pending_.clear();
    return n_lines;
  }

  void sync(std::string& error) {
    if (!std::exchange(is_dirty_, false)) return;
    try {
      file_.sync();
    } catch (const SystemError& e) {
      keep_first(error, e.what());
    }
  }

  [[nodiscard]] bool is_dirty() const { return is_dirty_; }

 private:
  void cut_back(std::string& error) {
    try {
      file_.truncate(size_);
    } catch (const SystemError& e) {
      error += fmt::format("; {}", e.what());  // resume will cut the torn line
    }
  }

  File file_;
  i64 size_;
  std::string pending_;
  bool is_dirty_ = false;
};

class ThreadedLog final : public ResultsLog {
 public:
  ThreadedLog(const std::string& run_dir, std::function<bool()> may_write)
      : journals_{Journal(run_dir + "/results.jsonl"), Journal(run_dir + "/errors.jsonl")},
        may_write_(std::move(may_write)) {
    sync_folder(run_dir);
    // A thread inherits its signal mask: this one must get none, above all no SIGXFSZ, which would
    // end the process where write(2) can say "File too large" instead.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~ThreadedLog() override {
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
    }
    has_work_.notify_one();
    thread_.join();
  }

  void append(bool is_error, std::string record) override {
    n_queued_bytes_.fetch_add(static_cast<i64>(record.size()));
    n_queued_.fetch_add(1);
    bool is_first = false;
    {
      const std::lock_guard lock(mutex_);
      is_first = queue_.empty();
      queue_.emplace_back(is_error, std::move(record));
    }
    if (is_first) has_work_.notify_one();  // for the others the thread is awake already
  }

  [[nodiscard]] i64 n_queued() const override { return n_queued_.load(); }
  [[nodiscard]] i64 n_queued_bytes() const override { return n_queued_bytes_.load(); }

  [[nodiscard]] Written written() const override {
    return {.n_results = n_written_[0].load(), .n_errors = n_written_[1].load()};
  }

  void flush() override {
    std::unique_lock lock(mutex_);
    const i64 wanted = ++n_flushes_asked_;
    has_work_.notify_one();
    has_flushed_.wait(lock, [&] { return n_flushes_done_ >= wanted || !failure_.empty(); });
    if (!failure_.empty()) fail<SystemError>("{}", failure_);
  }

  [[nodiscard]] std::string failure() const override {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void run() {
    auto synced_at = Clock::now();
    std::unique_lock lock(mutex_);
    while (true) {
      const auto has_news = [this] {
        return !queue_.empty() || is_closing_ || n_flushes_asked_ > n_flushes_done_;
      };
      if (is_dirty())
        has_work_.wait_until(lock, synced_at + kSyncInterval, has_news);
      else
        has_work_.wait(lock, has_news);
      const auto batch = std::exchange(queue_, {});
      const i64 n_flushes = n_flushes_asked_;
      const bool is_last = is_closing_;
      const bool must_sync = is_last || n_flushes > n_flushes_done_;
      lock.unlock();
      std::string error;
      write(batch, error);
      if (must_sync || Clock::now() >= synced_at + kSyncInterval) {
        sync(error);
        synced_at = Clock::now();
      }
      lock.lock();
      failure_ = std::move(error);
      if (failure_.empty()) n_flushes_done_ = n_flushes;
      has_flushed_.notify_all();
      if (is_last || !failure_.empty()) return;
    }
  }

  void write(const std::vector<std::pair<bool, std::string>>& batch, std::string& error) {
    if (batch.empty()) return;
    if (may_write_ && !may_write_()) {
      error = "the run folder's lock is lost: another coordinator writes there";
      return;
    }
    for (const auto& [is_error, record] : batch)
      journals_[is_error ? 1 : 0].add(record);
    for (std::size_t i = 0; i < journals_.size(); ++i) {
      const i64 n_lines = journals_[i].write_pending(error);
      n_written_[i].fetch_add(n_lines);
      n_queued_.fetch_sub(n_lines);
    }
    if (!error.empty()) return;
    for (const auto& [is_error, record] : batch)
      n_queued_bytes_.fetch_sub(static_cast<i64>(record.size()));
  }

  void sync(std::string& error) {
    for (Journal& journal : journals_)
      journal.sync(error);
  }

  [[nodiscard]] bool is_dirty() const { return std::ranges::any_of(journals_, &Journal::is_dirty); }

  std::array<Journal, 2> journals_;  // results, errors; only the thread touches them
  std::function<bool()> may_write_;
  std::array<std::atomic<i64>, 2> n_written_{};
  std::atomic<i64> n_queued_{0};
  std::atomic<i64> n_queued_bytes_{0};
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable has_work_;
  std::condition_variable has_flushed_;
  std::vector<std::pair<bool, std::string>> queue_;
  i64 n_flushes_asked_ = 0;
  i64 n_flushes_done_ = 0;
  bool is_closing_ = false;
  std::string failure_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ResultsLog> ResultsLog::open(const std::string& run_dir,
                                             std::function<bool()> may_write) {
  return std::make_unique<ThreadedLog>(run_dir, std::move(may_write));
}

}  // namespace sticky::io
