#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sticky/base/types.hpp"

#include "file.hpp"

namespace sticky::io {

/// Who holds a run folder, as its lock file says. Times are Unix seconds.
struct LockHolder {
  std::string token;  ///< of this one taking; tells it from any other
  std::string job;    ///< of the batch system; may be empty
  std::string host;
  i64 pid = 0;
  i64 start_ticks = 0;        ///< when the process began: a pid is used again, the pair is not
  std::string boot_id;        ///< of the host's kernel
  std::string pid_namespace;  ///< in which pid means something
  i64 beat = 0;

  [[nodiscard]] std::string to_json() const;  ///< ends with a newline
  /// Nothing when the text is no lock (half written, or not ours).
  [[nodiscard]] static std::optional<LockHolder> from_json(std::string_view text);
  /// This process, now.
  [[nodiscard]] static LockHolder self();
};

/// How another process stands, as far as can be seen from here.
enum class Liveness { alive, dead, unseen };
[[nodiscard]] Liveness liveness_of(const LockHolder& holder);

/// Whether the folder may be taken from that holder: its process is dead or, when it cannot be
/// seen, its beat is 60 s old. A beat from the future counts as fresh: clocks disagree, and the
/// safe side is to ask the user. Pure.
[[nodiscard]] bool is_stale(const LockHolder& holder, Liveness liveness, i64 now);

/// The lock itself: see run_folder.hpp. Not for several threads at once.
class FolderLock {
 public:
  /// Throws ConfigError naming the holder when the lock is in use, SystemError when it cannot be
  /// made.
  explicit FolderLock(std::string path);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();  ///< removes the file if it is still ours

  /// Whether the file is still ours.
  [[nodiscard]] bool is_held() const;
  /// Writes the time into it; false when it is not ours any more.
  [[nodiscard]] bool beat();

 private:
  [[nodiscard]] bool try_make();
  void remove_stale();

  std::string path_;
  LockHolder self_;
  std::optional<File> file_;
};

}  // namespace sticky::io
