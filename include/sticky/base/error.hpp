#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace sticky {

/// Root of every failure that is not a bug in this program. `what()` is a full sentence for the
/// user: what was being done, on what, what is wrong, and what would be right.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The user can put it right before any work starts: a key, a flag, a path. Exit code 1.
class ConfigError : public Error {
  using Error::Error;
};

/// A file or message is not what it claims to be.
class FormatError : public Error {
  using Error::Error;
};

/// The operating system refused: no space, no permission, no such file. The text names path and
/// reason.
class SystemError : public Error {
  using Error::Error;
};

/// The compute device is gone, and with it this worker.
class DeviceError : public Error {
  using Error::Error;
};

/// Throws E with a formatted message: fail<FormatError>("{}: header of {} bytes", path, n).
template <class E, class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw E(fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace sticky
