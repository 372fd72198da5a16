#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"

namespace sticky::io {

/// The folder of one run and the lock that keeps a second coordinator out. Every write is checked;
/// SystemError names path and reason.
class RunFolder {
 public:
  enum class Mode {
    create,  ///< ConfigError with the resume line when the folder holds a run already
    resume,  ///< ConfigError when it holds none
    create_or_resume,
  };
  /// Takes the lock: ConfigError naming host, pid and age of the holder while another one is fresh
  /// (its beat younger than 60 s, or its process alive on this host).
  static std::unique_ptr<RunFolder> open(const std::string& dir, Mode mode);

  RunFolder() = default;
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  virtual ~RunFolder() = default;  ///< releases the lock

  [[nodiscard]] virtual const std::string& path() const = 0;
  [[nodiscard]] virtual bool is_resumed() const = 0;
  /// Renews the lock; false when someone else has taken it: stop writing at once.
  [[nodiscard]] virtual bool beat() = 0;
  /// Replaces a file of the folder whole: temporary file, fsync, rename.
  virtual void write_file(const std::string& name, std::string_view text) = 0;
  /// Appends a line to run.log; never throws (a full disk must not end the run through its log).
  virtual void log_line(std::string_view line) noexcept = 0;
};

}  // namespace sticky::io
