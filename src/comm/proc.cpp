#include "sticky/comm/proc.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace sticky::comm {
namespace {

namespace fs = std::filesystem;

std::optional<pid_t> pid_of(const std::string& name) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return pid;
}

template <class Accept>
std::vector<pid_t> children(pid_t parent, Accept accept) {
  std::vector<pid_t> found;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const auto pid = pid_of(entry->path().filename().string());
    const auto stat = pid ? stat_of(*pid) : std::nullopt;
    if (stat && stat->parent == parent && accept(*stat)) found.push_back(*pid);
  }
  return found;
}

}  // namespace

std::optional<ProcessStat> stat_of(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  // A process that ends meanwhile makes the read fail; getline() says so without throwing.
  std::string text;
  std::getline(in, text, '\0');
  // Field 2 is the program's name in parentheses and may hold anything; field 3 follows the last
  // ')'.
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcessStat stat;
  std::string skipped;
  std::string state;
  fields >> state >> stat.parent;
  stat.has_ended = state == "Z" || state == "X";
  constexpr int kFieldsBetween = 17;  // fields 5 to 21; the start time is field 22
  for (int i = 0; i < kFieldsBetween; ++i)
    fields >> skipped;
  fields >> stat.start_ticks;
  return fields ? std::optional(stat) : std::nullopt;
}

std::vector<pid_t> children_of(pid_t parent) {
  return children(parent, [](const ProcessStat&) { return true; });
}

std::vector<pid_t> living_children_of(pid_t parent) {
  return children(parent, [](const ProcessStat& stat) { return !stat.has_ended; });
}

std::string program_of(pid_t pid) {
  std::error_code ignored;
  return fs::read_symlink(fmt::format("/proc/{}/exe", pid), ignored).string();
}

std::string own_path() {
  return fs::read_symlink("/proc/self/exe").string();
}

}  // namespace sticky::comm
