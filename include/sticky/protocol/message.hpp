#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sticky/base/hash.hpp"
#include "sticky/base/ids.hpp"
#include "sticky/base/types.hpp"

// Every message between the coordinator and a worker. docs/protocol.md says who sends what when,
// and what happens when it is lost. A change of any field raises kVersion.
namespace sticky::protocol {

inline constexpr i32 kVersion = 1;

/// One request on its way to a worker.
struct Invocation {
  InvocationId id;
  std::string custom_id;  ///< given, or FILE:LINE
  std::string file;
  i64 line = 0;
  i64 byte_offset = 0;
  Hash128 hash;
  i64 attempt = 1;
  std::string payload;  ///< the input line as it stands
  bool operator==(const Invocation&) const = default;
};

/// One finished record on its way back: a whole line of results.jsonl or errors.jsonl.
struct Result {
  InvocationId id;
  bool is_error = false;
  std::string record;
  i64 prompt_tokens = 0;
  i64 completion_tokens = 0;
  bool operator==(const Result&) const = default;
};

// worker → coordinator
struct Hello {
  i32 version = kVersion;
  std::string host;
  i64 pid = 0;
  i64 start_ticks =
      0;  ///< of /proc/PID/stat, field 22: with host and pid it names one process for ever
  std::string device;
  bool operator==(const Hello&) const = default;
};
struct StateReady {
  i64 slots = 0;  ///< invocations that it can hold at once
  std::string arithmetic;
  double load_seconds = 0.0;
  std::string description;  ///< for people: model, device, threads
  bool operator==(const StateReady&) const = default;
};
struct StateFailed {
  std::string reason;
  bool operator==(const StateFailed&) const = default;
};
struct Results {
  std::vector<Result> results;
  bool operator==(const Results&) const = default;
};
/// Each second, from a thread of its own.
struct Heartbeat {
  i64 n_steps = 0;  ///< of the engine: held work and no step for long means it hangs
  i64 n_held = 0;
  bool is_loading = false;
  bool operator==(const Heartbeat&) const = default;
};
/// Unstarted or unfinished invocations that the worker will not answer (it leaves).
struct HandBack {
  std::vector<InvocationId> ids;
  bool operator==(const HandBack&) const = default;
};
/// The last message of a worker that leaves as planned.
struct Bye {
  std::string reason;
  bool operator==(const Bye&) const = default;
};

// coordinator → worker
struct Welcome {
  WorkerId worker;
  std::string options_json;  ///< worker::Options
  bool operator==(const Welcome&) const = default;
};
struct RunInvocations {
  std::vector<Invocation> invocations;
  bool operator==(const RunInvocations&) const = default;
};
/// Give back what has not started (everything when `now`), then say Bye.
struct Leave {
  bool now = false;
  bool operator==(const Leave&) const = default;
};
/// The coordinator is alive though it has nothing to say.
struct Beat {
  bool operator==(const Beat&) const = default;
};

using Message = std::variant<Hello,
                             StateReady,
                             StateFailed,
                             Results,
                             Heartbeat,
                             HandBack,
                             Bye,
                             Welcome,
                             RunInvocations,
                             Leave,
                             Beat>;

/// decode(encode(m)) == m. decode throws FormatError on bytes of another version, of an unknown
/// kind, too short, too long, or with a length that cannot be.
[[nodiscard]] std::string encode(const Message& message);
[[nodiscard]] Message decode(std::string_view bytes);

}  // namespace sticky::protocol
