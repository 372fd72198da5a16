#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace sticky::cli {

/// A file of the run folder, watched for being written in this launch.
class WatchedFile {
 public:
  WatchedFile(const std::string& run_dir, const char* name);
  /// Whether it is there, and not as it was when this began.
  [[nodiscard]] bool is_new() const;

 private:
  // What tells one file from another that a later run put in its place.
  struct Identity {
    std::filesystem::file_time_type written;
    std::uintmax_t size = 0;
    bool operator==(const Identity&) const = default;
  };
  static std::optional<Identity> identity_of(const std::string& path);

  std::string path_;
  std::optional<Identity> before_;
};

}  // namespace sticky::cli
