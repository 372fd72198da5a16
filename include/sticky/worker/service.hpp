#pragma once

#include <span>
#include <string>
#include <vector>

#include "sticky/base/types.hpp"
#include "sticky/protocol/message.hpp"

namespace sticky::worker {

/// What a worker does with invocations: creates its state once (the sticky task), then answers. The
/// real one is a transformer (make_model_service); tests give others. One thread uses it, but
/// n_steps() and n_held() may be read by another (the heartbeat).
class Service {
 public:
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  /// Creates the state. Throws Error when it cannot be: the worker is of no use then.
  virtual void load() = 0;
  /// Invocations that it can hold at once: what runs together plus one batch in hand. After load().
  [[nodiscard]] virtual i64 slots() const = 0;
  [[nodiscard]] virtual std::string arithmetic() const = 0;
  [[nodiscard]] virtual std::string description() const = 0;

  /// Takes an invocation. It ends in exactly one Result, or in hand_back() or take_back(). Its
  /// progress is gone on from where it is of this arithmetic, else it is begun anew: the result is
  /// the same.
  virtual void submit(protocol::Invocation invocation) = 0;
  /// Runs one step of everything held and gives what finished in it; nothing held: nothing.
  /// Throws DeviceError when the device is lost.
  [[nodiscard]] virtual std::vector<protocol::Result> step() = 0;
  /// Forgets all that is held and not finished, and gives it with the tokens made so far. What is
  /// finished comes with the next step().
  [[nodiscard]] virtual std::vector<protocol::Unfinished> hand_back() = 0;
  /// The same for those of `ids` of which nothing was computed yet.
  [[nodiscard]] virtual std::vector<protocol::Unfinished> take_back(
      std::span<const InvocationId> ids) = 0;

  /// Signs of progress: grows with each step that computes, and may with what submit() does.
  [[nodiscard]] virtual i64 n_steps() const = 0;
  [[nodiscard]] virtual i64 n_held() const = 0;
};

}  // namespace sticky::worker
