#include "file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "sticky/base/error.hpp"
#include "sticky/base/regular_file.hpp"

namespace sticky::checkpoint {

File::File(std::string path) : path_(std::move(path)) {
  descriptor_ = open_regular_file(path_);
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    const int error = errno;
    ::close(descriptor_);
    fail<SystemError>("{}: cannot be examined: {}", path_, std::strerror(error));
  }
  size_bytes_ = status.st_size;
  // A hint only: on failure the reads are slower, not wrong.
  (void)::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_bytes_(other.size_bytes_) {}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void File::read_at(i64 offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto at = offset + static_cast<i64>(done);
    const auto got = ::pread(descriptor_, out.data() + done, out.size() - done, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail<SystemError>("{}: cannot read byte {}: {}", path_, at, std::strerror(errno));
    if (got == 0) {
      fail<FormatError>("{}: the file ends at byte {}, but {} bytes from byte {} on are needed",
                        path_, at, out.size(), offset);
    }
    done += static_cast<std::size_t>(got);
  }
}

std::string File::text_at(i64 offset, i64 n_bytes) const {
  std::string text(static_cast<std::size_t>(n_bytes), '\0');
  read_at(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace sticky::checkpoint
