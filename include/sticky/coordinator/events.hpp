#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sticky/base/ids.hpp"
#include "sticky/protocol/message.hpp"

namespace sticky::coordinator {

// What can happen. Each comes from exactly one place: the transport, the processes of this host,
// the reader, the journal, the user or the clock.

/// A peer of the launch that has not said Hello yet.
struct WorkerExpected {
  WorkerId worker;
};
struct WorkerJoined {  ///< Hello
  WorkerId worker;
  std::string host = {};  ///< empty: unknown, and no other's
};
struct WorkerReady {  ///< StateReady
  WorkerId worker;
  i64 slots = 0;  ///< invocations it can hold at once, a batch in hand included
  std::string arithmetic = {};
};
struct WorkerFailed {  ///< StateFailed
  WorkerId worker;
  std::string reason;
};
struct HeartbeatArrived {
  WorkerId worker;
  i64 n_steps = 0;
};
struct ResultsArrived {
  WorkerId worker;
  std::vector<protocol::Result> results;
};
struct HandedBack {
  WorkerId worker;
  std::vector<InvocationId> ids;
  protocol::HandBack::Reason reason = protocol::HandBack::Reason::leaving;
};
struct WorkerBye {
  WorkerId worker;
  std::string reason;
};
/// The link broke, the process ended, or its bytes made no sense.
struct WorkerGone {
  WorkerId worker;
  std::string reason;
};
struct InputRead {
  struct Line {
    InvocationId id;
    i64 n_bytes = 0;  ///< kept in memory until it is recorded
  };
  std::vector<Line> lines;
};
struct InputEnded {};
/// Whether results wait in too long a queue to be written. While they do nothing is dispatched.
struct JournalPressed {
  bool is_pressed = false;
};
/// Whether workers may still come that nobody has heard of yet: then a run without any goes on.
struct HelpExpected {
  bool is_expected = false;
};
/// One worker shall go, the others stay.
struct LeaveAsked {
  WorkerId worker;
  bool at_once = false;  ///< hand back instead of finishing what runs
};
struct StopAsked {
  std::string reason;
  bool at_once = false;  ///< hand back instead of finishing what runs
};
/// At least ten times a second.
struct Tick {};

using What = std::variant<WorkerExpected,
                          WorkerJoined,
                          WorkerReady,
                          WorkerFailed,
                          HeartbeatArrived,
                          ResultsArrived,
                          HandedBack,
                          WorkerBye,
                          WorkerGone,
                          InputRead,
                          InputEnded,
                          JournalPressed,
                          HelpExpected,
                          LeaveAsked,
                          StopAsked,
                          Tick>;

}  // namespace sticky::coordinator
