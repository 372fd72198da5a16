#pragma once

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "sticky/protocol/processes.hpp"
#include "sticky/protocol/transport.hpp"

namespace sticky::test {

/// A signal that strikes this process when it passes a point of its life for the n-th time:
/// "before_" or "after_" and "receive" (work comes in), "compute" (a step) or "send" (its results).
/// Says "struck POINT" before, and "thawed POINT" after it if it still lives then. Only the thread
/// that works passes points.
class Blow {
 public:
  Blow() = default;  ///< never strikes
  Blow(std::string point, i64 at_count, int signal)
      : point_(std::move(point)),
        at_count_(at_count),
        signal_(signal) {}

  void pass(std::string_view point) {
    if (point != point_ || ++n_passed_ != at_count_) return;
    say("struck");
    (void)std::raise(signal_);
    say("thawed");
  }

 private:
  void say(const char* what) const {
    fmt::print("{} {}\n", what, point_);
    std::fflush(stdout);
  }

  std::string point_;
  i64 at_count_ = 0;
  int signal_ = 0;
  i64 n_passed_ = 0;
};

/// A worker's transport that may be struck where work comes in and results go out.
class StruckTransport final : public protocol::Transport {
 public:
  StruckTransport(std::unique_ptr<protocol::Transport> inner, Blow& blow)
      : inner_(std::move(inner)),
        blow_(blow) {}

  [[nodiscard]] std::vector<protocol::PeerId> peers() const override { return inner_->peers(); }
  void send_bytes(protocol::PeerId to, std::string encoded) override {
    // Heartbeats come here from another thread.
    const bool is_answer = std::holds_alternative<protocol::Results>(protocol::decode(encoded));
    if (is_answer) blow_.pass("before_send");
    inner_->send_bytes(to, std::move(encoded));
    if (is_answer) blow_.pass("after_send");
  }
  [[nodiscard]] std::vector<protocol::Incoming> poll(Duration patience) override {
    // Whoever has answered has been sent more meanwhile, and has not looked at it.
    if (has_work_come_) blow_.pass("before_receive");
    std::vector<protocol::Incoming> incoming = inner_->poll(patience);
    for (const protocol::Incoming& one : incoming) {
      const auto* arrived = std::get_if<protocol::Arrived>(&one);
      if (arrived == nullptr || !std::holds_alternative<protocol::RunInvocations>(arrived->message))
        continue;
      has_work_come_ = true;
      blow_.pass("after_receive");
    }
    return incoming;
  }
  void forget(protocol::PeerId peer) override { inner_->forget(peer); }
  [[nodiscard]] i64 unsent_bytes(protocol::PeerId peer) const override {
    return inner_->unsent_bytes(peer);
  }
  [[nodiscard]] i64 n_arrived(protocol::PeerId peer) override { return inner_->n_arrived(peer); }

 private:
  std::unique_ptr<protocol::Transport> inner_;
  Blow& blow_;
  bool has_work_come_ = false;
};

/// The processes of a host that can be watched and not be killed, as those of a host where nobody
/// of ours is left.
class UnreachableProcesses final : public protocol::Processes {
 public:
  explicit UnreachableProcesses(std::unique_ptr<protocol::Processes> inner)
      : inner_(std::move(inner)) {}

  [[nodiscard]] bool is_here(const protocol::ProcessName& process) const override {
    return inner_->is_here(process);
  }
  bool watch(protocol::PeerId peer, const protocol::ProcessName& process) override {
    return inner_->watch(peer, process);
  }
  [[nodiscard]] std::vector<protocol::PeerId> ended() override { return inner_->ended(); }
  bool kill(const protocol::ProcessName&) override { return false; }

 private:
  std::unique_ptr<protocol::Processes> inner_;
};

}  // namespace sticky::test
