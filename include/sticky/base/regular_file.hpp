#pragma once

#include <string>

namespace sticky {

/// Opens a regular file (or a link to one) for reading, close-on-exec. Whoever calls closes the
/// descriptor. Anything else that bears the name - a folder, pipe, socket or device - is refused at
/// once: opening a pipe would wait for somebody to write into it. SystemError with path and reason.
[[nodiscard]] int open_regular_file(const std::string& path);

/// All bytes of such a file. Throws as open_regular_file() does.
[[nodiscard]] std::string read_regular_file(const std::string& path);

}  // namespace sticky
