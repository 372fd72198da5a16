#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sticky/base/clock.hpp"
#include "sticky/worker/service.hpp"

namespace sticky::test {

/// Answers every invocation with a record that is its id, a blank and its payload; one step answers
/// up to `n_per_step` of them and takes `step_time`.
class EchoService final : public worker::Service {
 public:
  struct Shape {
    i64 slots = 64;
    i64 n_per_step = 32;
    Duration step_time{};
    std::function<void(const protocol::Invocation&)> before_answer = nullptr;
    std::function<void()> before_step = nullptr;  // only where something is held
    std::function<void()> after_step = nullptr;
  };
  explicit EchoService(const Shape& shape) : shape_(shape) {}

  void load() override {}
  [[nodiscard]] i64 slots() const override { return shape_.slots; }
  [[nodiscard]] std::string arithmetic() const override { return "echo"; }
  [[nodiscard]] std::string description() const override { return "echo"; }

  void submit(protocol::Invocation invocation) override { held_.push_back(std::move(invocation)); }
  [[nodiscard]] std::vector<protocol::Result> step() override {
    std::vector<protocol::Result> results;
    if (held_.empty()) return results;
    ++n_steps_;
    if (shape_.before_step) shape_.before_step();
    if (shape_.step_time > Duration{}) std::this_thread::sleep_for(shape_.step_time);
    while (!held_.empty() && static_cast<i64>(results.size()) < shape_.n_per_step) {
      const protocol::Invocation& next = held_.front();
      if (shape_.before_answer) shape_.before_answer(next);
      results.push_back({.id = next.id,
                         .is_error = false,
                         .record = std::to_string(next.id.value) + " " + next.payload,
                         .prompt_tokens = 1,
                         .completion_tokens = 1});
      held_.pop_front();
    }
    if (shape_.after_step) shape_.after_step();
    return results;
  }
  [[nodiscard]] std::vector<protocol::Unfinished> hand_back() override {
    std::vector<protocol::Unfinished> out;
    for (const protocol::Invocation& one : std::exchange(held_, {}))
      out.push_back({one.id, {}});
    return out;
  }
  [[nodiscard]] std::vector<protocol::Unfinished> take_back(
      std::span<const InvocationId> ids) override {
    std::vector<protocol::Unfinished> out;
    std::erase_if(held_, [&](const protocol::Invocation& one) {
      const bool is_wanted = std::ranges::count(ids, one.id) > 0;
      if (is_wanted) out.push_back({one.id, {}});
      return is_wanted;
    });
    return out;
  }
  [[nodiscard]] i64 n_steps() const override { return n_steps_; }
  [[nodiscard]] i64 n_held() const override { return static_cast<i64>(held_.size()); }

 private:
  Shape shape_;
  std::deque<protocol::Invocation> held_;
  std::atomic<i64> n_steps_ = 0;
};

}  // namespace sticky::test
