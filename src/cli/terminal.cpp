#include "terminal.hpp"

#include <cerrno>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sticky::cli {
namespace {

constexpr std::string_view kEraseLine = "\r\033[K";

std::size_t width_of(int fd) {
  winsize size{};
  constexpr std::size_t kUsual = 80;
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

}  // namespace

bool is_terminal(int fd) {
  return isatty(fd) == 1;
}

void LivingLine::show(const std::string& line) {
  line_ = line;
  // One column stays free: a full line would move the cursor to the next one.
  write_all(std::string(kEraseLine) + line_.substr(0, width_of(fd_) - 1));
  is_shown_ = true;
}

void LivingLine::print_above(std::string_view bytes) {
  unfinished_ += bytes;
  const auto end = unfinished_.rfind('\n');
  if (end == std::string::npos) return;
  const std::string whole = unfinished_.substr(0, end + 1);
  unfinished_.erase(0, end + 1);
  if (!is_shown_) {
    write_all(whole);
    return;
  }
  write_all(std::string(kEraseLine) + whole);
  show(line_);
}

void LivingLine::clear() {
  if (is_shown_) write_all(kEraseLine);
  is_shown_ = false;
  if (!unfinished_.empty()) write_all(unfinished_ + '\n');
  unfinished_.clear();
}

// What a terminal refuses is lost: progress is no reason to end a run.
void LivingLine::write_all(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t n = write(fd_, text.data(), text.size());
    if (n < 0 && errno != EINTR) return;
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace sticky::cli
