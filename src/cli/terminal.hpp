#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky::cli {

[[nodiscard]] bool is_terminal(int fd);

/// One line at the bottom of a terminal that is drawn again and again, with whole lines of others
/// passing above it.
class LivingLine {
 public:
  explicit LivingLine(int fd) : fd_(fd) {}
  LivingLine(const LivingLine&) = delete;
  LivingLine& operator=(const LivingLine&) = delete;
  ~LivingLine() { clear(); }

  /// Draws the line, cut to the terminal's width.
  void show(const std::string& line);
  /// Bytes that someone else wants to print: whole lines go above, a part of one waits for its end.
  void print_above(std::string_view bytes);
  /// Takes the line away, and prints what still waited.
  void clear();

 private:
  int fd_;
  bool is_shown_ = false;
  std::string line_;
  std::string unfinished_;
};

/// Several lines at the bottom of a terminal that are drawn again and again.
class LivingPicture {
 public:
  explicit LivingPicture(int fd) : fd_(fd) {}
  LivingPicture(const LivingPicture&) = delete;
  LivingPicture& operator=(const LivingPicture&) = delete;
  ~LivingPicture() { clear(); }

  /// How many lines fit.
  [[nodiscard]] i64 height() const;
  /// Draws the lines in place of those before, each cut to the terminal's width.
  void show(const std::vector<std::string>& lines);
  /// Takes them away.
  void clear();

 private:
  int fd_;
  i64 n_shown_ = 0;
};

/// The beginning of a UTF-8 text that takes at most so many columns, a character being one.
[[nodiscard]] std::string cut_to_width(std::string_view text, i64 n_columns);

}  // namespace sticky::cli
