#pragma once

#include <optional>
#include <string>
#include <sys/stat.h>

#include "sticky/base/types.hpp"

namespace sticky::malleability {

/// A file descriptor that closes itself; -1: none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept;
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd();

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// The sentence part that belongs to an errno value.
[[nodiscard]] std::string reason_of(int error);

/// What keeps others from having written a file or folder: "belongs to user 17, not to 1000",
/// "can be reached by group or others (mode 664)"; empty when nobody else can reach it.
[[nodiscard]] std::string why_not_private(const struct stat& status);

/// "a link", "a folder", "a FIFO", "a device", "a socket"; empty for a plain file.
[[nodiscard]] std::string kind_unless_plain(const struct stat& status);

/// The bytes of an open file up to `max_bytes`; nothing when it holds more.
/// SystemError when it cannot be read.
[[nodiscard]] std::optional<std::string> read_at_most(const Fd& fd, i64 max_bytes);

}  // namespace sticky::malleability
