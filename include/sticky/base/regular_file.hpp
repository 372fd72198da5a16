#pragma once

#include <string>

namespace sticky {

/// Whether anything bears that name: also a link that leads nowhere or to itself, and what may not
/// be looked at. What is wrong with those is told when they are opened; they are not as good as
/// missing.
[[nodiscard]] bool is_there(const std::string& path);

/// Opens a regular file (or a link to one) for reading, close-on-exec. Whoever calls closes the
/// descriptor. Anything else that bears the name - a folder, pipe, socket or device - is refused at
/// once: opening a pipe would wait for somebody to write into it. SystemError with path and reason.
[[nodiscard]] int open_regular_file(const std::string& path);

/// All bytes of such a file. Throws as open_regular_file() does.
[[nodiscard]] std::string read_regular_file(const std::string& path);

}  // namespace sticky
