#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sticky/base/ids.hpp"
#include "sticky/protocol/message.hpp"

namespace sticky::coordinator {

// What the shell must do after an event, in this order. The reactor itself only decides.

struct SendWelcome {
  WorkerId worker;
  bool operator==(const SendWelcome&) const = default;
};
struct SendWork {
  struct One {
    InvocationId id;
    i64 attempt = 1;
    bool operator==(const One&) const = default;
  };
  WorkerId worker;
  std::vector<One> invocations;
  bool operator==(const SendWork&) const = default;
};
/// It shall give back which of these it has not started. It holds them until it does.
struct SendTakeBack {
  WorkerId worker;
  std::vector<InvocationId> ids;
  bool operator==(const SendTakeBack&) const = default;
};
struct SendLeave {
  WorkerId worker;
  bool now = false;
  bool operator==(const SendLeave&) const = default;
};
/// These answers count, and no other of the same requests ever will.
struct Record {
  WorkerId worker;
  std::vector<protocol::Result> results;
  bool operator==(const Record&) const = default;
};
/// Why a worker is gone. The first two are planned and cost the invocations that it held no
/// attempt.
enum class Cause {
  left,           ///< it was told to
  preempted,      ///< its system took it away, and it could say so
  died,           ///< its process or its link is gone
  frozen,         ///< no heartbeat in time
  hung,           ///< heartbeats, but no step of the engine while work is held
  load_failed,    ///< it could not create its state
  load_too_long,  ///< its state was not ready in time
  device_failed,  ///< it lost its device
  never_joined,   ///< it never said Hello
  stayed,         ///< it was told to leave and did not
  confused,       ///< it sent what makes no sense
};
[[nodiscard]] const char* name_of(Cause cause);
[[nodiscard]] constexpr bool is_planned(Cause cause) {
  return cause == Cause::left || cause == Cause::preempted;
}
/// The request was in flight in too many deaths: it is recorded as failed.
struct RecordFailure {
  InvocationId id;
  std::vector<Cause> deaths;  ///< of the workers that held it, in order
  bool operator==(const RecordFailure&) const = default;
};
/// Forget the worker; unless it said goodbye, make sure that its process is dead.
struct DropWorker {
  WorkerId worker;
  Cause cause = Cause::left;
  std::string reason;
  i64 n_returned = 0;  ///< invocations that it held
  bool has_said_bye = false;
  bool operator==(const DropWorker&) const = default;
};
using Action =
    std::variant<SendWelcome, SendWork, SendTakeBack, SendLeave, Record, RecordFailure, DropWorker>;
using Actions = std::vector<Action>;

}  // namespace sticky::coordinator
