#include "sticky/comm/capability.hpp"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace sticky::comm {

namespace {

// "4.1.4" → 4 and 1; nothing where no number stands.
struct Version {
  int major = 0;
  int minor = 0;
  std::string_view text;
};

std::optional<Version> version_in(std::string_view text) {
  const auto first = text.find_first_of("0123456789");
  if (first == std::string_view::npos) return std::nullopt;
  text.remove_prefix(first);
  const auto n = text.find_first_not_of("0123456789.");
  Version version{.text = text.substr(0, n)};
  const char* end = version.text.data() + version.text.size();
  const auto major = std::from_chars(version.text.data(), end, version.major);
  if (major.ec != std::errc{}) return std::nullopt;
  if (major.ptr != end) (void)std::from_chars(major.ptr + 1, end, version.minor);
  return version;
}

struct Known {
  std::string_view mark;  // in the library's text, before its version
  MpiKind kind;
  std::string_view name;
};

// MVAPICH and Intel MPI first: they descend from MPICH and may say so.
constexpr Known kKnown[] = {{"Open MPI v", MpiKind::open_mpi, "Open MPI"},
                            {"Intel(R) MPI Library", MpiKind::intel_mpi, "Intel MPI"},
                            {"MVAPICH", MpiKind::mvapich, "MVAPICH"},
                            {"MPICH Version:", MpiKind::mpich, "MPICH"}};

void add_measured(Capability& c) {
  if (c.implementation != MpiKind::open_mpi) return;
  if (c.major == 4 && c.minor == 1) {
    c.can_spawn = c.can_spawn_on_hosts = c.can_survive_loss = c.can_join = true;
    c.survival_flag = "--enable-recovery";
  } else if (c.major == 5 && c.minor == 0) {
    c.can_spawn = c.can_survive_loss = true;
    c.survival_flag = "--with-ft ulfm";
  }
}

}  // namespace

Capability capability_of(std::string_view library_version) {
  Capability c;
  for (const Known& known : kKnown) {
    const auto at = library_version.find(known.mark);
    if (at == std::string_view::npos) continue;
    c.implementation = known.kind;
    c.name = known.name;
    if (const auto version = version_in(library_version.substr(at + known.mark.size()))) {
      c.major = version->major;
      c.minor = version->minor;
      c.name += fmt::format(" {}", version->text);
    }
    break;
  }
  add_measured(c);
  return c;
}

std::string sentence(const Capability& c) {
  if (!c.can_survive_loss)
    return "a fixed number of workers, and losing one may end the job (not measured with this MPI)";
  std::string text = c.can_spawn_on_hosts ? "workers may be added, on later hosts too"
                                          : "workers may be added on the coordinator's host";
  if (c.can_join) text += ", and other launches may join";
  return text + fmt::format("; lost workers are survived with mpirun {}", c.survival_flag);
}

}  // namespace sticky::comm
