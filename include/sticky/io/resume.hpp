#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sticky/base/hash.hpp"
#include "sticky/base/types.hpp"
#include "sticky/io/input_reader.hpp"

namespace sticky::io {

struct ResumeOptions {
  bool retry_errors = false;
  std::string retry_code;  ///< with retry_errors: only records of this code; empty: all
};

/// What an earlier run of this folder has done. Matching: a line with an id is done when a record
/// of that id and the same request hash stands; a line without one is matched by hash and count.
class Done {
 public:
  virtual ~Done() = default;
  /// Whether this line has a record already. Asked once for each line, in input order.
  [[nodiscard]] virtual bool take(const InputLine& line) = 0;
  [[nodiscard]] virtual i64 n_results() const = 0;
  [[nodiscard]] virtual i64 n_errors() const = 0;
};

/// Repairs and reads results.jsonl and errors.jsonl: a torn last line is cut; a line that is no
/// record is moved to superseded.jsonl with a warning, as are records whose request has changed or
/// vanished from `input` (which is read through once), doubles, and errors that are to be tried
/// again – all before any work, by rename, so that a crash in between loses nothing.
[[nodiscard]] std::unique_ptr<Done> prepare_resume(const std::string& run_dir,
                                                   InputReader& input,
                                                   const ResumeOptions& options);

}  // namespace sticky::io
