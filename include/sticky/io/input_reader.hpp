#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sticky/base/hash.hpp"
#include "sticky/base/ids.hpp"
#include "sticky/base/types.hpp"
#include "sticky/io/options.hpp"

namespace sticky::io {

/// One line of input, as far as the coordinator looks at it.
struct InputLine {
  InvocationId id;        ///< counts lines that are not blank, over all files, from 0
  std::string custom_id;  ///< given, or FILE:LINE
  bool has_id = false;    ///< whether it was given (and is not just what FILE:LINE would be)
  std::string file;       ///< as the user named it; "stdin"
  i64 line = 0;           ///< physical line, from 1
  i64 byte_offset = 0;    ///< of its first byte in the unpacked file, behind a BOM
  Hash128 hash;           ///< of what decides its answer (request::canonical_request)
  std::string model;      ///< asked for; empty: none
  std::string payload;    ///< the line without its end; empty for one that is too long
  /// Why it cannot become a request: invalid_json_line (not UTF-8, no JSON object),
  /// duplicate_custom_id, line_too_long, or invalid_request for an id that is empty or no string.
  /// Such a line never goes to a worker; its hash is that of its bytes where it is no JSON object.
  std::string error_code;
  std::string error_message;
  std::string error_param;
};

/// Reads lines of several files one after another, unpacking as it goes. Packed files are known by
/// their name (.gz, .zst) or their first bytes; several members or frames follow one another.
/// Memory: one line and a set of id hashes (256 MiB for 10 million ids, 384 MiB for the moment in
/// which it grows to that). BOM, CRLF and blank lines are fine; a last line without an end counts.
class InputReader {
 public:
  virtual ~InputReader() = default;
  /// The next line, or nothing at the end. Throws SystemError/FormatError when a file cannot be
  /// read on (an I/O error, a truncated .gz): what, where. Whole lines that stood before the fault
  /// were given out by then and stay valid; after it there is nothing more.
  [[nodiscard]] virtual std::optional<InputLine> next() = 0;
  /// Bytes of (packed) input read so far and in all, for progress; -1 when unknown (standard
  /// input).
  [[nodiscard]] virtual i64 bytes_read() const = 0;
  [[nodiscard]] virtual i64 bytes_total() const = 0;
};

/// Throws ConfigError with all that is wrong: files that are missing, unreadable, no regular files
/// (a pipe could make it wait for ever), or listed twice. What a shell's <(command) stands for
/// (/dev/fd/N) is read as it comes, like standard input.
[[nodiscard]] std::unique_ptr<InputReader> open_input(const InputOptions& options);

/// Copies standard input whole, as it comes, to RUN_DIR/stdin.jsonl, so that a resume finds it
/// again. Gives the path, for InputOptions::kept_standard_input. Where the file is there already
/// nothing is read, unless `may_be_kept` is false: a new run must not take over what an earlier one
/// left behind (RunFolder::is_resumed() is the right value). `on_wait` is called at least ten times
/// a second; it may end the copy by throwing. `fd`: where to read. Throws SystemError.
[[nodiscard]] std::string keep_standard_input(
    const std::string& run_dir,
    bool may_be_kept = true,
    const std::function<void()>& on_wait = [] {},
    int fd = 0);

}  // namespace sticky::io
