#include "fd.hpp"

#include <cerrno>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "sticky/base/error.hpp"

namespace sticky::malleability {

Fd::Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Fd& Fd::operator=(Fd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

std::string reason_of(int error) {
  return std::generic_category().message(error);
}

std::string why_not_private(const struct stat& status) {
  if (status.st_uid != ::geteuid())
    return fmt::format("belongs to user {}, not to {}", status.st_uid, ::geteuid());
  if ((status.st_mode & 077U) != 0)
    return fmt::format("can be reached by group or others (mode {:o})", status.st_mode & 07777U);
  return "";
}

std::string kind_unless_plain(const struct stat& status) {
  switch (status.st_mode & S_IFMT) {
    case S_IFREG:
      return "";
    case S_IFLNK:
      return "a link";
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

std::optional<std::string> read_at_most(const Fd& fd, i64 max_bytes) {
  // One byte more than allowed: so a file that grows meanwhile is found out as well.
  std::string bytes(static_cast<std::size_t>(max_bytes) + 1, '\0');
  std::size_t n_read = 0;
  while (n_read < bytes.size()) {
    const ssize_t n = ::read(fd.get(), bytes.data() + n_read, bytes.size() - n_read);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail<SystemError>("cannot be read: {}", reason_of(errno));
    if (n == 0) break;
    n_read += static_cast<std::size_t>(n);
  }
  if (n_read == bytes.size()) return std::nullopt;
  bytes.resize(n_read);
  return bytes;
}

}  // namespace sticky::malleability
