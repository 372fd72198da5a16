#pragma once

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "sticky/base/error.hpp"

namespace sticky::test {

/// All bytes of a file of tests/data.
inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail<SystemError>("{}: cannot open", path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The same of a file compressed with xz.
inline std::string read_xz(const std::string& path) {
  const auto close = [](std::FILE* pipe) { ::pclose(pipe); };
  const std::unique_ptr<std::FILE, decltype(close)> pipe(
      ::popen(("xz -dc '" + path + "'").c_str(), "r"), close);
  if (!pipe) fail<SystemError>("{}: cannot run xz", path);
  std::string bytes;
  std::string piece(1U << 16U, '\0');
  while (const auto n = std::fread(piece.data(), 1, piece.size(), pipe.get()))
    bytes.append(piece, 0, n);
  if (bytes.empty()) fail<SystemError>("{}: xz gave nothing", path);
  return bytes;
}

}  // namespace sticky::test
