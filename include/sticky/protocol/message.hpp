#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sticky/base/hash.hpp"
#include "sticky/base/ids.hpp"
#include "sticky/base/types.hpp"

// Every message between the coordinator and a worker. docs/protocol.md says who sends what when,
// and what happens when it is lost. A change of any field raises kVersion.
namespace sticky::protocol {

inline constexpr i32 kVersion = 3;

/// The largest message that a transport carries. Both sides split their batches long before
/// (kBatchBytes), so only a single huge request or answer comes near it.
inline constexpr i64 kMaxMessageBytes = i64{1} << 30;
/// A batch of invocations or results is sent in several messages when it would grow beyond this.
inline constexpr i64 kBatchBytes = i64{4} << 20;

/// The first tokens of the answers to a request, made by a worker that could not finish it.
struct Progress {
  std::string arithmetic;  ///< whose they are: another would have made others
  std::vector<std::vector<i32>> answers;
  bool operator==(const Progress&) const = default;
};

/// One request on its way to a worker.
struct Invocation {
  InvocationId id;
  std::string custom_id;  ///< given, or FILE:LINE
  std::string file;
  i64 line = 0;
  i64 byte_offset = 0;
  Hash128 hash;
  i64 attempt = 1;
  std::optional<Progress> progress{};  ///< to go on from, within one arithmetic
  std::string payload;                 ///< the input line as it stands
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
  /// Field 22 of /proc/PID/stat: with host and pid it names one process for ever.
  i64 start_ticks = 0;
  i64 pid_namespace = 0;  ///< inode of /proc/self/ns/pid: within it a pid means something
  std::string device;     ///< for people; may be empty until the state is ready
  bool operator==(const Hello&) const = default;
};
struct StateReady {
  i64 slots = 0;  ///< invocations that it can hold at once
  std::string arithmetic;
  double load_seconds = 0.0;
  std::string description;  ///< for people: model, device, threads
  bool operator==(const StateReady&) const = default;
};
/// The state cannot be loaded, or its device is gone: the worker ends after this message.
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
/// An invocation that goes back, with the tokens that its answers have so far: a list for each
/// answer, or none where nothing was made.
struct Unfinished {
  InvocationId id;
  std::vector<std::vector<i32>> answers;
  bool operator==(const Unfinished&) const = default;
};
/// Invocations that the worker will not answer.
struct HandBack {
  enum class Reason : std::uint8_t {
    leaving,     ///< it leaves; with no invocations: it takes nothing more
    taken_back,  ///< the answer to TakeBack: what of that had not started
    refused,     ///< they came when it was leaving already
  };
  Reason reason = Reason::leaving;
  std::string arithmetic;  ///< of the tokens
  std::vector<Unfinished> invocations;
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
/// Hand back which of these have not started; whatever they are, it is answered with a HandBack.
struct TakeBack {
  std::vector<InvocationId> ids;
  bool operator==(const TakeBack&) const = default;
};
/// Finish what is held (with `now`: hand it back), then say Bye.
struct Leave {
  bool now = false;
  bool operator==(const Leave&) const = default;
};
/// The coordinator is alive though it has nothing to say.
struct Beat {
  bool operator==(const Beat&) const = default;
};
/// The answer to Bye: now the worker may end. Whether everybody is there to finalize MPI with.
struct Farewell {
  bool may_finalize = false;
  bool operator==(const Farewell&) const = default;
};
/// Kill that process of this host, if its start time is still this one: a lost worker must not
/// hold its device, nor outlive the run.
struct Fence {
  i64 pid = 0;
  i64 start_ticks = 0;
  bool operator==(const Fence&) const = default;
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
                             Beat,
                             Farewell,
                             Fence,
                             TakeBack>;

}  // namespace sticky::protocol
