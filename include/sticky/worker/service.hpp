#pragma once

#include <functional>
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

  /// Takes an invocation. It ends in exactly one Result, or in hand_back().
  virtual void submit(protocol::Invocation invocation) = 0;
  /// Runs one step of everything held and gives what finished in it; nothing held: nothing.
  /// Throws DeviceError when the device is lost.
  [[nodiscard]] virtual std::vector<protocol::Result> step() = 0;
  /// Forgets all that is held and names it.
  [[nodiscard]] virtual std::vector<InvocationId> hand_back() = 0;

  [[nodiscard]] virtual i64 n_steps() const = 0;
  [[nodiscard]] virtual i64 n_held() const = 0;
};

}  // namespace sticky::worker
