#pragma once

#include <memory>
#include <string>

#include "sticky/base/types.hpp"
#include "sticky/io/input_reader.hpp"

namespace sticky::io {

struct ResumeOptions {
  bool retry_errors = false;
  std::string retry_code;  ///< with retry_errors: only records of this code; empty: all
};

/// What an earlier run of this folder has done. Matching: a line with an id is done when a record
/// of that id and the same request hash stands; a line without one is matched by hash and count,
/// the record of its own place first. A line that cannot become a request is done when the record
/// of that fault stands.
class Done {
 public:
  virtual ~Done() = default;
  /// Whether this line has a record already: a line of the input that prepare_resume() read.
  [[nodiscard]] virtual bool take(const InputLine& line) = 0;
  [[nodiscard]] virtual i64 n_results() const = 0;
  [[nodiscard]] virtual i64 n_errors() const = 0;
};

/// Repairs and reads results.jsonl and errors.jsonl: a torn last line is cut; a line that is no
/// record is moved to superseded.jsonl with a warning, as are records whose request has changed or
/// vanished from `input` (which is read through once), doubles, and errors that are to be tried
/// again – all before any work, by rename, so that a crash in between loses nothing (what was being
/// moved may then stand in superseded.jsonl twice). Records of lines that have only moved are
/// written anew with their new place (and id, if that was FILE:LINE).
/// Memory: 40 bytes a record while it runs, 32 more for each line without id that moved; afterwards
/// a bit for each line. Throws SystemError, and FormatError from `input`.
[[nodiscard]] std::unique_ptr<Done> prepare_resume(const std::string& run_dir,
                                                   InputReader& input,
                                                   const ResumeOptions& options);

/// Whether prepare_resume() would find nothing to do and nothing to put right: each line of `input`
/// has the record of its own place, and there are no others. Reads only, and stops at the first
/// line that has none. Throws as prepare_resume() does.
[[nodiscard]] bool is_all_done(const std::string& run_dir,
                               InputReader& input,
                               const ResumeOptions& options);

}  // namespace sticky::io
