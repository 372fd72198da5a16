#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "sticky/io/input_reader.hpp"

namespace sticky::cli {

/// Asks before every line whether to read on; who asks may throw.
class WatchedInput final : public io::InputReader {
 public:
  WatchedInput(std::unique_ptr<io::InputReader> input, std::function<void()> on_line)
      : input_(std::move(input)),
        on_line_(std::move(on_line)) {}
  [[nodiscard]] std::optional<io::InputLine> next() override {
    on_line_();
    return input_->next();
  }
  [[nodiscard]] i64 bytes_read() const override { return input_->bytes_read(); }
  [[nodiscard]] i64 bytes_total() const override { return input_->bytes_total(); }

 private:
  std::unique_ptr<io::InputReader> input_;
  std::function<void()> on_line_;
};

}  // namespace sticky::cli
