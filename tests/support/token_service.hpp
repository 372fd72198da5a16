#pragma once

#include <algorithm>
#include <atomic>
#include <charconv>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sticky/worker/service.hpp"

namespace sticky::test {

/// Answers of many steps: the payload says of how many tokens. A step makes one token for each of
/// the first `n_running` invocations held. The record is the id and the tokens.
class TokenService final : public worker::Service {
 public:
  struct Shape {
    i64 slots = 64;
    i64 n_running = 4;
    bool ends = true;                       ///< else it never makes the last token
    std::atomic<i64>* n_brought = nullptr;  ///< counts tokens that came with invocations
    std::atomic<i64>* n_made = nullptr;     ///< counts those made here
  };
  explicit TokenService(const Shape& shape) : shape_(shape) {}

  static i32 token(InvocationId id, std::size_t place) {
    return static_cast<i32>(1000 * id.value + static_cast<i64>(place));
  }

  void load() override {}
  [[nodiscard]] i64 slots() const override { return shape_.slots; }
  [[nodiscard]] std::string arithmetic() const override { return "tokens"; }
  [[nodiscard]] std::string description() const override { return "tokens"; }

  void submit(protocol::Invocation invocation) override {
    Held& held = held_.emplace_back();
    held.id = invocation.id;
    const std::string& payload = invocation.payload;
    (void)std::from_chars(payload.data(), payload.data() + payload.size(), held.n_tokens);
    if (!invocation.progress || invocation.progress->arithmetic != arithmetic()) return;
    held.tokens = std::move(invocation.progress->answers.at(0));
    if (shape_.n_brought != nullptr) *shape_.n_brought += static_cast<i64>(held.tokens.size());
  }
  [[nodiscard]] std::vector<protocol::Result> step() override {
    std::vector<protocol::Result> results;
    if (held_.empty()) return results;
    ++n_steps_;
    for (std::size_t k = 0; k < held_.size() && static_cast<i64>(k) < shape_.n_running; ++k)
      grow(held_[k]);
    std::erase_if(held_, [&](const Held& held) {
      const bool has_ended = held.has_started && held.tokens.size() >= held.n_tokens;
      if (has_ended)
        results.push_back(
            {.id = held.id,
             .record = fmt::format("{}: {}", held.id.value, fmt::join(held.tokens, " "))});
      return has_ended;
    });
    return results;
  }
  [[nodiscard]] std::vector<protocol::Unfinished> hand_back() override {
    return take([](const Held&) { return true; });
  }
  [[nodiscard]] std::vector<protocol::Unfinished> take_back(
      std::span<const InvocationId> ids) override {
    return take([&](const Held& held) {
      return !held.has_started && std::ranges::count(ids, held.id) > 0;
    });
  }
  [[nodiscard]] i64 n_steps() const override { return n_steps_; }
  [[nodiscard]] i64 n_held() const override { return static_cast<i64>(held_.size()); }

 private:
  struct Held {
    InvocationId id;
    std::vector<i32> tokens;
    std::size_t n_tokens = 0;
    bool has_started = false;
  };

  void grow(Held& held) {
    held.has_started = true;
    auto& tokens = held.tokens;
    if (tokens.size() + (shape_.ends ? 0 : 1) >= held.n_tokens) return;
    tokens.push_back(token(held.id, tokens.size()));
    if (shape_.n_made != nullptr) ++*shape_.n_made;
  }
  template <class IsWanted>
  std::vector<protocol::Unfinished> take(const IsWanted& is_wanted) {
    std::vector<protocol::Unfinished> out;
    std::erase_if(held_, [&](Held& held) {
      if (!is_wanted(held)) return false;
      protocol::Unfinished& back = out.emplace_back();
      back.id = held.id;
      if (!held.tokens.empty()) back.answers.push_back(std::move(held.tokens));
      return true;
    });
    return out;
  }

  Shape shape_;
  std::deque<Held> held_;
  std::atomic<i64> n_steps_ = 0;
};

}  // namespace sticky::test
