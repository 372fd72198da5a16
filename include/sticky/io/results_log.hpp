#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sticky/base/ids.hpp"
#include "sticky/base/types.hpp"

namespace sticky::io {

/// results.jsonl and errors.jsonl of a run folder: whole lines appended by a thread of its own,
/// written out at least every 0.5 s. They are the journal: what stands in them is done.
class ResultsLog {
 public:
  static std::unique_ptr<ResultsLog> open(const std::string& run_dir);

  ResultsLog() = default;
  ResultsLog(const ResultsLog&) = delete;
  ResultsLog& operator=(const ResultsLog&) = delete;
  virtual ~ResultsLog() = default;

  /// Queues one line (without newline). Never blocks and never throws.
  virtual void append(bool is_error, std::string record) = 0;
  /// Lines queued and not written: above a bound the caller should stop dispatching.
  [[nodiscard]] virtual i64 n_queued() const = 0;
  /// Waits until everything queued is written and fsynced. SystemError when it cannot be.
  virtual void flush() = 0;
  /// Empty while all is well; else why writing stopped ("results.jsonl: No space left on device").
  /// What was written before stays whole: the failed line was cut off again.
  [[nodiscard]] virtual std::string failure() const = 0;
};

}  // namespace sticky::io
