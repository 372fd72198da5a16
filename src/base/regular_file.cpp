#include "sticky/base/regular_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "sticky/base/error.hpp"

namespace sticky {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int take() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

[[noreturn]] void fail_with_errno(const std::string& path) {
  fail<SystemError>("{}: cannot be read: {}", path, std::strerror(errno));
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

void require_regular(const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode))
    fail<SystemError>("{}: cannot be read: it is {}, not a regular file", path,
                      kind_of(status.st_mode));
}

}  // namespace

bool is_there(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

int open_regular_file(const std::string& path) {
  // Looked at before it is opened, since opening alone acts on some devices and wakes whoever
  // waits to write into a pipe; and afterwards, since the name may have changed hands.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail_with_errno(path);
  require_regular(path, status);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) fail_with_errno(path);
  require_regular(path, status);
  return file.take();
}

std::string read_regular_file(const std::string& path) {
  constexpr std::size_t kPiece = 1U << 16U;
  const Descriptor file(open_regular_file(path));
  std::string bytes;
  while (true) {
    const std::size_t at = bytes.size();
    bytes.resize(at + kPiece);
    const auto n = ::read(file.get(), bytes.data() + at, kPiece);
    bytes.resize(at + static_cast<std::size_t>(n > 0 ? n : 0));
    if (n == 0) return bytes;
    if (n < 0 && errno != EINTR) fail_with_errno(path);
  }
}

}  // namespace sticky
