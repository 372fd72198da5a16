#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sticky/io/input_reader.hpp"
#include "sticky/io/results_log.hpp"
#include "sticky/io/run_folder.hpp"

namespace sticky::test {

/// n lines whose payloads are `n_bytes` of the last digit of their number.
class CountedInput final : public io::InputReader {
 public:
  CountedInput(i64 n, i64 n_bytes) : n_(n), n_bytes_(n_bytes) {}
  [[nodiscard]] std::optional<io::InputLine> next() override {
    if (at_ == n_) return std::nullopt;
    io::InputLine line;
    line.id = {at_};
    line.custom_id = fmt::format("r{}", at_);
    line.file = "counted";
    line.line = at_ + 1;
    line.payload = payload(at_++);
    return line;
  }
  [[nodiscard]] std::string payload(i64 id) const {
    return std::string(static_cast<std::size_t>(n_bytes_), static_cast<char>('0' + id % 10));
  }
  [[nodiscard]] i64 bytes_read() const override { return at_ * n_bytes_; }
  [[nodiscard]] i64 bytes_total() const override { return n_ * n_bytes_; }

 private:
  i64 n_;
  i64 n_bytes_;
  i64 at_ = 0;
};

/// Keeps how often each record came.
class MemoryResults : public io::ResultsLog {
 public:
  void append(bool is_error, std::string record) override {
    ++(is_error ? errors : results)[std::move(record)];
  }
  [[nodiscard]] i64 n_queued() const override { return n_queued_now; }
  [[nodiscard]] Written written() const override {
    return {.n_results = sum(results), .n_errors = sum(errors)};
  }
  void flush() override {}
  [[nodiscard]] std::string failure() const override { return failure_now; }

  std::map<std::string, i64> results;
  std::map<std::string, i64> errors;
  i64 n_queued_now = 0;
  std::string failure_now;

 private:
  static i64 sum(const std::map<std::string, i64>& counts) {
    i64 total = 0;
    for (const auto& [record, n] : counts)
      total += n;
    return total;
  }
};

/// A run folder that is nowhere.
class MemoryFolder final : public io::RunFolder {
 public:
  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] bool is_resumed() const override { return false; }
  [[nodiscard]] bool beat() override { return has_lock; }
  [[nodiscard]] bool holds_lock() const override { return has_lock; }
  void write_file(const std::string& name, std::string_view text) override {
    const std::lock_guard lock(mutex_);
    files_[name] = text;
  }
  void log_line(std::string_view) noexcept override {}
  [[nodiscard]] std::string file(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return files_[name];
  }
  bool has_lock = true;

 private:
  std::string path_ = "(memory)";
  std::mutex mutex_;
  std::map<std::string, std::string> files_;
};

}  // namespace sticky::test
