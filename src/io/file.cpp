#include "file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "sticky/base/error.hpp"
#include "sticky/base/regular_file.hpp"

namespace sticky::io {

namespace {

constexpr int kMode = 0644;

[[noreturn]] void fail_with_errno(const std::string& path, const char* what) {
  fail<SystemError>("{}: {}: {}", path, what, reason(errno));
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

std::string reason(int error) {
  return std::generic_category().message(error);
}

File::File(int fd, std::string path, bool is_owner)
    : fd_(fd),
      path_(std::move(path)),
      is_owner_(is_owner) {}

File File::open(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, kMode);
  if (fd < 0) fail_with_errno(path, "cannot be opened");
  return {fd, path, true};
}

File File::open_regular(const std::string& path) {
  return {open_regular_file(path), path, true};
}

File File::borrow(int fd, std::string name) {
  return {fd, std::move(name), false};
}

File::File(File&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      is_owner_(other.is_owner_) {}

File& File::operator=(File&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(is_owner_, other.is_owner_);
  return *this;
}

File::~File() {
  if (fd_ >= 0 && is_owner_) ::close(fd_);
}

i64 File::read(std::span<char> out) {
  while (true) {
    const auto n = ::read(fd_, out.data(), out.size());
    if (n >= 0) return n;
    if (errno != EINTR) fail_with_errno(path_, "cannot be read");
  }
}

void File::read_at(std::span<char> out, i64 offset) const {
  while (!out.empty()) {
    const auto n = ::pread(fd_, out.data(), out.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_with_errno(path_, "cannot be read");
    if (n == 0)
      fail<SystemError>("{}: ends at byte {}, {} more expected", path_, offset, out.size());
    out = out.subspan(static_cast<std::size_t>(n));
    offset += n;
  }
}

File::Written File::try_write(std::string_view bytes) {
  Written written;
  while (!bytes.empty()) {
    const auto n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      written.error = errno;
      return written;
    }
    written.n_bytes += n;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return written;
}

void File::write(std::string_view bytes) {
  if (const Written w = try_write(bytes); w.error != 0)
    fail<SystemError>("{}: cannot be written: {}", path_, reason(w.error));
}

void File::sync() {
  // EINVAL: the file is of a kind that needs none (a device).
  if (::fsync(fd_) != 0 && errno != EINVAL) fail_with_errno(path_, "cannot be written out");
}

void File::truncate(i64 n_bytes) {
  if (::ftruncate(fd_, n_bytes) != 0) fail_with_errno(path_, "cannot be cut");
}

i64 File::size() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) fail_with_errno(path_, "cannot be examined");
  return status.st_size;
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

void sync_folder(const std::string& folder) {
  File::open(folder, O_RDONLY | O_DIRECTORY).sync();
}

void rename_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail_with_errno(from, "cannot be renamed");
  sync_folder(folder_of(to));
}

void replace_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".tmp";
  File file = File::open(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  try {
    file.write(text);
    file.sync();
    rename_file(temporary, path);
  } catch (const SystemError&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

i64 cut_torn_line(const std::string& path) {
  constexpr i64 kPiece = 1 << 16;
  if (!exists(path)) return 0;
  File file = File::open(path, O_RDWR);
  const i64 size = file.size();
  std::vector<char> piece(static_cast<std::size_t>(kPiece));
  for (i64 end = size; end > 0;) {
    const i64 start = std::max<i64>(0, end - kPiece);
    const std::span<char> bytes(piece.data(), static_cast<std::size_t>(end - start));
    file.read_at(bytes, start);
    const auto newline = std::string_view(bytes.data(), bytes.size()).rfind('\n');
    if (newline != std::string_view::npos) {
      const i64 whole = start + static_cast<i64>(newline) + 1;
      if (whole < size) file.truncate(whole);
      return size - whole;
    }
    end = start;
  }
  if (size > 0) file.truncate(0);
  return size;
}

}  // namespace sticky::io
