#include "terminal.hpp"

#include <cerrno>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace sticky::cli {
namespace {

constexpr std::string_view kEraseLine = "\r\033[K";
constexpr std::string_view kEraseBelow = "\r\033[J";

struct Size {
  i64 n_columns = 80;
  i64 n_lines = 24;
};

Size size_of(int fd) {
  winsize size{};
  Size known;
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) return known;
  if (size.ws_col > 0) known.n_columns = size.ws_col;
  if (size.ws_row > 0) known.n_lines = size.ws_row;
  return known;
}

// What a terminal refuses is lost: progress is no reason to end a run.
void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno != EINTR) return;
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

bool is_terminal(int fd) {
  return isatty(fd) == 1;
}

void LivingLine::show(const std::string& line) {
  line_ = line;
  // One column stays free: a full line would move the cursor to the next one.
  write_all(fd_, std::string(kEraseLine) + cut_to_width(line_, size_of(fd_).n_columns - 1));
  is_shown_ = true;
}

void LivingLine::print_above(std::string_view bytes) {
  unfinished_ += bytes;
  const auto end = unfinished_.rfind('\n');
  if (end == std::string::npos) return;
  const std::string whole = unfinished_.substr(0, end + 1);
  unfinished_.erase(0, end + 1);
  if (!is_shown_) {
    write_all(fd_, whole);
    return;
  }
  write_all(fd_, std::string(kEraseLine) + whole);
  show(line_);
}

void LivingLine::clear() {
  if (is_shown_) write_all(fd_, kEraseLine);
  is_shown_ = false;
  if (!unfinished_.empty()) write_all(fd_, unfinished_ + '\n');
  unfinished_.clear();
}

i64 LivingPicture::height() const {
  return size_of(fd_).n_lines - 1;  // the cursor's own line stays free
}

void LivingPicture::show(const std::vector<std::string>& lines) {
  // One write, so that no half of a picture is seen.
  std::string out = n_shown_ > 0 ? fmt::format("\033[{}A", n_shown_) : "";
  for (const std::string& line : lines) {
    out += kEraseLine;
    out += cut_to_width(line, size_of(fd_).n_columns - 1);
    out += '\n';
  }
  out += kEraseBelow;
  write_all(fd_, out);
  n_shown_ = static_cast<i64>(lines.size());
}

void LivingPicture::clear() {
  if (n_shown_ > 0) write_all(fd_, fmt::format("\033[{}A{}", n_shown_, kEraseBelow));
  n_shown_ = 0;
}

std::string cut_to_width(std::string_view text, i64 n_columns) {
  std::size_t end = 0;
  for (i64 n = 0; end < text.size(); ++end) {
    const bool begins_character = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins_character && ++n > n_columns) break;
  }
  return std::string(text.substr(0, end));
}

}  // namespace sticky::cli
