#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/io/input_reader.hpp"
#include "sticky/io/resume.hpp"
#include "sticky/protocol/codec.hpp"

namespace sticky::coordinator {

/// The first line of all that asks for a model that is not served.
struct OtherModel {
  std::string file;
  i64 line = 0;
  std::string model;
};

/// What came in since the last time.
struct Portion {
  /// The lines that are requests, without those that an earlier run has recorded.
  std::vector<protocol::EncodedInvocations> blocks;
  std::vector<io::InputLine> bad_lines;  ///< those that are not; likewise
  i64 n_done_before = 0;                 ///< lines left out because they are recorded
  std::optional<OtherModel> other_model{};
  bool has_ended = false;  ///< nothing follows, ever
  std::string failure;     ///< with has_ended: why the input could not be read to its end
  i64 bytes_read = 0;      ///< of the (packed) input so far
};

/// What a good line is on its way to a worker.
[[nodiscard]] protocol::Invocation to_invocation(io::InputLine line);

/// Where the coordinator's lines come from.
class LineFeed {
 public:
  LineFeed() = default;
  LineFeed(const LineFeed&) = delete;
  LineFeed& operator=(const LineFeed&) = delete;
  virtual ~LineFeed() = default;

  /// A bounded portion of what is there. Never waits.
  [[nodiscard]] virtual Portion take() = 0;
};

/// Reads and encodes ahead on a thread of its own, a few megabytes at most, so that a slow file or
/// a terminal stops nobody. The thread owns the reader: one that is stuck in a read when the feed
/// goes is left behind. `done` may be null; `serves` is called on that thread.
[[nodiscard]] std::unique_ptr<LineFeed> read_ahead(
    std::unique_ptr<io::InputReader> input,
    std::unique_ptr<io::Done> done,
    std::function<bool(std::string_view model)> serves);

}  // namespace sticky::coordinator
