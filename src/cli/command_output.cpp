#include "command_output.hpp"

#include <array>
#include <cstdio>
#include <memory>

namespace sticky::cli {

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> out(popen(command.c_str(), "re"), pclose);
  std::string text;
  std::array<char, 4096> chunk{};
  while (out != nullptr) {
    const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), out.get());
    if (n == 0) break;
    text.append(chunk.data(), n);
  }
  return text;
}

}  // namespace sticky::cli
