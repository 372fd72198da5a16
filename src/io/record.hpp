#pragma once

#include <algorithm>
#include <compare>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sticky/base/hash.hpp"
#include "sticky/base/types.hpp"
#include "sticky/io/input_reader.hpp"

namespace sticky::io {

/// What a line of results.jsonl or errors.jsonl says of the input line it belongs to.
struct Record {
  std::string custom_id;
  std::string file;
  i64 line = 0;
  Hash128 request_hash;
  std::string error_code;  ///< empty: a success
  std::string error_param;

  /// Nothing when the text is no record.
  [[nodiscard]] static std::optional<Record> from_json(std::string_view text);
};

/// Number of a file and a line in it, in 8 bytes; ordered as the input is. A file
/// of more than 8 * 10^12 lines ends there.
class FileLine {
 public:
  static constexpr i64 kMaxFiles = i64{1} << 20;  ///< open_input() refuses more
  FileLine(i64 file, i64 line) : code_(file << kLineBits | std::clamp<i64>(line, 0, kMaxLine)) {}
  [[nodiscard]] i64 file() const { return code_ >> kLineBits; }
  [[nodiscard]] i64 line() const { return code_ & kMaxLine; }
  auto operator<=>(const FileLine&) const = default;

 private:
  static constexpr int kLineBits = 43;
  static constexpr i64 kMaxLine = (i64{1} << kLineBits) - 1;
  i64 code_;
};

/// What a record and its input line have in common: the id where one was given, the request's hash,
/// the reader's fault if there is one.
[[nodiscard]] Hash128 match_key(const Record& record);
[[nodiscard]] Hash128 match_key(const InputLine& line);

/// Stands for FILE:LINE.
[[nodiscard]] std::uint64_t place_key(std::string_view file, i64 line);

/// The record, saying that its line now stands elsewhere; an id that was FILE:LINE moves with it.
[[nodiscard]] std::string with_new_place(std::string_view record,
                                         const std::string& file,
                                         i64 line,
                                         i64 byte_offset);

/// Calls `use(text, offset)` for each line of a file of records (without its end), front to back; a
/// missing file has none.
void for_each_record_line(const std::string& path,
                          const std::function<void(std::string_view, i64)>& use);

}  // namespace sticky::io
