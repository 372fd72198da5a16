#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sticky/base/ids.hpp"
#include "sticky/base/types.hpp"

namespace sticky::io {

/// results.jsonl and errors.jsonl of a run folder: whole lines appended by a thread of its own,
/// fsynced at least every 0.5 s. They are the journal: what stands in them is done.
/// The destructor writes what is queued, as far as it can.
class ResultsLog {
 public:
  /// `may_write` is asked, in the log's thread, before each write: when it says no (the folder's
  /// lock is lost, RunFolder::holds_lock), writing ends for good. Throws SystemError.
  static std::unique_ptr<ResultsLog> open(const std::string& run_dir,
                                          std::function<bool()> may_write = {});

  ResultsLog() = default;
  ResultsLog(const ResultsLog&) = delete;
  ResultsLog& operator=(const ResultsLog&) = delete;
  virtual ~ResultsLog() = default;

  /// Queues one line (without newline). Never blocks and never throws.
  virtual void append(bool is_error, std::string record) = 0;
  /// Lines queued and not written: above a bound the caller should stop dispatching.
  [[nodiscard]] virtual i64 n_queued() const = 0;
  /// Their bytes. A log that writes at once has none.
  [[nodiscard]] virtual i64 n_queued_bytes() const { return 0; }
  /// Waits until everything queued is written and fsynced. SystemError (failure()) when it cannot.
  virtual void flush() = 0;
  /// Lines that stand in the files, appended by this log: where writing has failed these are all
  /// there will ever be, however many were queued.
  struct Written {
    i64 n_results = 0;
    i64 n_errors = 0;
  };
  [[nodiscard]] virtual Written written() const = 0;
  /// Empty while all is well; else why writing stopped ("results.jsonl: No space left on device").
  /// What was written before stays whole: the failed line was cut off again.
  [[nodiscard]] virtual std::string failure() const = 0;
};

}  // namespace sticky::io
