#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sticky/base/clock.hpp"
#include "sticky/worker/service.hpp"

namespace sticky::perf {

/// Answers what it holds with records of one length; one step answers up to `n_a_step`.
class InstantService final : public worker::Service {
 public:
  struct Shape {
    i64 slots = 64;
    i64 n_a_step = 1;  ///< 0: nothing is ever answered
    i64 n_reply_bytes = 64;
  };
  explicit InstantService(const Shape& shape)
      : shape_(shape),
        record_(static_cast<std::size_t>(shape.n_reply_bytes), 'x') {}

  void load() override {}
  [[nodiscard]] i64 slots() const override { return shape_.slots; }
  [[nodiscard]] std::string arithmetic() const override { return "none"; }
  [[nodiscard]] std::string description() const override { return "answers at once"; }

  void submit(protocol::Invocation invocation) override { held_.push_back(invocation.id); }
  [[nodiscard]] std::vector<protocol::Result> step() override {
    ++n_steps_;
    if (shape_.n_a_step == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::vector<protocol::Result> results(
        static_cast<std::size_t>(std::min(shape_.n_a_step, n_held())));
    for (protocol::Result& result : results) {
      result.id = held_.front();
      result.record = record_;
      held_.pop_front();
    }
    return results;
  }
  [[nodiscard]] std::vector<protocol::Unfinished> hand_back() override {
    std::vector<protocol::Unfinished> out;
    for (const InvocationId id : std::exchange(held_, {}))
      out.push_back({id, {}});
    return out;
  }
  [[nodiscard]] std::vector<protocol::Unfinished> take_back(
      std::span<const InvocationId>) override {
    return {};
  }
  [[nodiscard]] i64 n_steps() const override { return n_steps_; }
  [[nodiscard]] i64 n_held() const override { return static_cast<i64>(held_.size()); }

 private:
  Shape shape_;
  std::string record_;
  std::deque<InvocationId> held_;
  std::atomic<i64> n_steps_ = 0;
};

}  // namespace sticky::perf
