#include "version.hpp"

#include <fmt/format.h>

#include "kernels/cpu/instruction_set.hpp"

#include "launch_line.hpp"

namespace sticky::cli {

std::string version() {
  return fmt::format("{} (commit {})", STICKY_VERSION, STICKY_COMMIT);
}

std::string version_text() {
  std::string sets;
  for (const auto set : cpu::usable_instruction_sets())
    sets += (sets.empty() ? "" : ", ") + std::string(cpu::name(set));
  const MpirunVersion mpirun = find_mpirun();
  return fmt::format(
      "stickyinvoc {}\n"
      "mpirun: {}\n"
      "CPU: {}\n"
      "GPU: not built in\n",
      version(), mpirun.kind == MpirunVersion::Kind::missing ? "none in PATH" : mpirun.text, sets);
}

}  // namespace sticky::cli
