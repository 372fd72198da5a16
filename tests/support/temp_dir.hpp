#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "sticky/base/error.hpp"

namespace sticky::test {

/// A fresh folder that goes away with the object.
class TempDir {
 public:
  TempDir() {
    std::string form = (std::filesystem::temp_directory_path() / "sticky-test-XXXXXX").string();
    if (::mkdtemp(form.data()) == nullptr) fail<SystemError>("{}: cannot be made", form);
    path_ = form;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }
  /// Writes a file of that name and gives its path.
  std::string write(std::string_view name, std::string_view bytes) const {
    const std::string path = *this / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  std::string path_;
};

}  // namespace sticky::test
