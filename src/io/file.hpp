#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sticky/base/types.hpp"

namespace sticky::io {

/// An open file that closes itself. Functions without another word throw SystemError with path and
/// reason.
class File {
 public:
  /// `flags` as for open(2); close-on-exec is added, a new file gets mode 0644.
  static File open(const std::string& path, int flags);
  /// A regular file, to be read; nothing else is waited for.
  static File open_regular(const std::string& path);
  /// Takes an open descriptor, which stays the caller's to close (standard input).
  static File borrow(int fd, std::string name);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int fd() const { return fd_; }
  /// Bytes read, 0 at the end.
  [[nodiscard]] i64 read(std::span<char> out);
  /// Fills all of `out` from `offset` on; a file that ends before is an error.
  void read_at(std::span<char> out, i64 offset) const;
  void write(std::string_view bytes);
  /// Writes as much as it can: bytes written and the errno that stopped it (0: all is written).
  struct Written {
    i64 n_bytes = 0;
    int error = 0;
  };
  [[nodiscard]] Written try_write(std::string_view bytes);
  void sync();
  void truncate(i64 n_bytes);
  [[nodiscard]] i64 size() const;

 private:
  File(int fd, std::string path, bool is_owner);
  int fd_ = -1;
  std::string path_;
  bool is_owner_ = true;
};

[[nodiscard]] bool exists(const std::string& path);
/// Makes what happened to names in a folder (create, rename) survive a power cut.
void sync_folder(const std::string& folder);
/// Replaces a file whole: PATH.tmp, fsync, rename, fsync of the folder.
void replace_file(const std::string& path, std::string_view text);
/// Gives a finished and synced file its name, replacing what bore it.
void rename_file(const std::string& from, const std::string& to);
/// Cuts off a last line that has no end, as a kill in mid-write leaves it. Bytes cut; 0 when the
/// file is whole, empty or missing.
i64 cut_torn_line(const std::string& path);
/// The reason that belongs to an errno value.
[[nodiscard]] std::string reason(int error);

}  // namespace sticky::io
