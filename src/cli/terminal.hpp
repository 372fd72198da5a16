#pragma once

#include <string>
#include <string_view>

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
  void write_all(std::string_view text) const;

  int fd_;
  bool is_shown_ = false;
  std::string line_;
  std::string unfinished_;
};

}  // namespace sticky::cli
