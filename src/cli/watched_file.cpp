#include "watched_file.hpp"

#include <system_error>

namespace sticky::cli {

WatchedFile::WatchedFile(const std::string& run_dir, const char* name)
    : path_((std::filesystem::path(run_dir) / name).string()),
      before_(identity_of(path_)) {}

bool WatchedFile::is_new() const {
  const auto now = identity_of(path_);
  return now && now != before_;
}

std::optional<WatchedFile::Identity> WatchedFile::identity_of(const std::string& path) {
  std::error_code error;
  Identity identity{std::filesystem::last_write_time(path, error),
                    std::filesystem::file_size(path, error)};
  return error ? std::nullopt : std::optional(identity);
}

}  // namespace sticky::cli
