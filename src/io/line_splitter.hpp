#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "byte_source.hpp"

namespace sticky::io {

/// Cuts bytes into physical lines. Memory: the longest line, at most about max_line_bytes.
class LineSplitter {
 public:
  struct Line {
    std::string_view text;     ///< without its end (\n or \r\n) and a BOM; good until the next call
    i64 number = 0;            ///< from 1
    i64 byte_offset = 0;       ///< of text
    i64 n_bytes = 0;           ///< of the whole line without \n
    bool is_too_long = false;  ///< text is then its first max_line_bytes bytes
  };

  LineSplitter(std::unique_ptr<ByteSource> source, i64 max_line_bytes);
  /// The next line, blank ones included; nothing at the end. What ByteSource throws passes through.
  [[nodiscard]] std::optional<Line> next();
  [[nodiscard]] i64 n_packed_bytes() const { return source_->n_packed_bytes(); }

 private:
  [[nodiscard]] bool refill();
  [[nodiscard]] Line take(std::size_t n_bytes, bool has_newline);
  [[nodiscard]] Line skip_long_line();

  std::unique_ptr<ByteSource> source_;
  std::size_t max_line_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of the line not yet given out
  std::size_t end_ = 0;    // of what was read
  std::vector<char> long_line_start_;
  i64 n_lines_ = 0;
  i64 offset_ = 0;  // of buffer_[begin_] in the file
};

}  // namespace sticky::io
