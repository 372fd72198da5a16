#include "sticky/base/standard_streams.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "sticky/base/error.hpp"

namespace sticky {

void hold_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free descriptor is this one. Open for the direction that nobody uses.
    (void)open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void tell_text(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

void flush_output() {
  const bool is_flushed = std::fflush(stdout) == 0;
  const int error = errno;
  if (!is_flushed) fail<SystemError>("standard output takes no more: {}", std::strerror(error));
  if (std::ferror(stdout) != 0) fail<SystemError>("standard output took only a part");
}

}  // namespace sticky
