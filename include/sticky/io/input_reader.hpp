#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sticky/base/hash.hpp"
#include "sticky/base/ids.hpp"
#include "sticky/base/types.hpp"
#include "sticky/io/options.hpp"

namespace sticky::io {

/// One line of input, as far as the coordinator looks at it.
struct InputLine {
  InvocationId id;        ///< counts lines that are not blank, over all files, from 0
  std::string custom_id;  ///< given, or FILE:LINE
  bool has_id = false;    ///< whether it was given
  std::string file;       ///< as the user named it
  i64 line = 0;           ///< physical line, from 1
  i64 byte_offset = 0;    ///< of its first byte in the unpacked file
  Hash128 hash;           ///< of what decides its answer (request::canonical_request)
  std::string model;      ///< asked for; empty: none
  std::string payload;    ///< the line without its end
  /// Why it cannot become a request: not UTF-8, no JSON, an id given twice. Such a line never goes
  /// to a worker.
  std::string error_code;
  std::string error_message;
  std::string error_param;
};

/// Reads lines of several files one after another, unpacking as it goes. Memory: one line and a set
/// of id hashes (16 bytes an id). BOM, CRLF and blank lines are fine; a last line without an end
/// counts.
class InputReader {
 public:
  virtual ~InputReader() = default;
  /// The next line, or nothing at the end. Throws SystemError/FormatError when a file cannot be
  /// read on (missing, truncated .gz): what, where.
  [[nodiscard]] virtual std::optional<InputLine> next() = 0;
  /// Bytes of (packed) input read so far and in all, for progress; -1 when unknown (standard
  /// input).
  [[nodiscard]] virtual i64 bytes_read() const = 0;
  [[nodiscard]] virtual i64 bytes_total() const = 0;
};
[[nodiscard]] std::unique_ptr<InputReader> open_input(const InputOptions& options);

}  // namespace sticky::io
