#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sticky/io/input_reader.hpp"
#include "sticky/io/resume.hpp"

namespace sticky::coordinator {

/// What came in since the last time.
struct Portion {
  std::vector<io::InputLine> lines;  ///< without those that an earlier run has recorded
  i64 n_done_before = 0;             ///< lines left out for that reason
  bool has_ended = false;            ///< nothing follows, ever
  std::string failure;               ///< with has_ended: why the input could not be read to its end
  i64 bytes_read = 0;                ///< of the (packed) input so far
};

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

/// Reads ahead on a thread of its own, a few megabytes at most, so that a slow file or a terminal
/// stops nobody. The thread owns the reader: one that is stuck in a read when the feed goes is left
/// behind. `done` may be null.
[[nodiscard]] std::unique_ptr<LineFeed> read_ahead(std::unique_ptr<io::InputReader> input,
                                                   std::unique_ptr<io::Done> done);

}  // namespace sticky::coordinator
