#include "launch_line.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "command_output.hpp"

namespace sticky::cli {
namespace {

constexpr std::string_view kOpenMpi = "(Open MPI) ";

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto blank = text.find(' ');
    out.emplace_back(text.substr(0, blank));
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
  }
  return out;
}

// mpirun 4.1 must not use epoll: it may leave a closed connection among those that epoll watches,
// and then never hears the next process that gets the same descriptor (docs/decisions/0014). What
// mpirun 5 was told of sharing cores does not reach the ranks; a variable does.
std::vector<std::string> mpirun_words(const LaunchRequest& request) {
  if (request.mpirun.kind != MpirunVersion::Kind::open_mpi) return words("mpirun");
  std::string line =
      request.mpirun.major >= 5
          ? "env OMPI_MCA_rmaps_base_oversubscribe=1 mpirun --map-by :OVERSUBSCRIBE --bind-to none "
            "--with-ft ulfm --mca pml ob1 --mca btl self,sm,tcp"
          : "env EVENT_NOEPOLL=1 mpirun --oversubscribe --bind-to none --enable-recovery --mca pml "
            "ob1 --mca btl self,vader,tcp";
  if (request.is_root) line += " --allow-run-as-root";
  return words(line);
}

bool needs_quotes(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%";
  return word.empty() || word.find_first_not_of(kPlain) != std::string::npos;
}

}  // namespace

MpirunVersion parse_mpirun_version(std::string_view text) {
  MpirunVersion version{.kind = MpirunVersion::Kind::other,
                        .text = std::string(text.substr(0, text.find('\n')))};
  const auto at = text.find(kOpenMpi);
  if (text.empty()) version.kind = MpirunVersion::Kind::missing;
  if (at == std::string_view::npos) return version;
  const std::string_view number = text.substr(at + kOpenMpi.size());
  version.kind = MpirunVersion::Kind::open_mpi;
  std::from_chars(number.data(), number.data() + number.size(), version.major);
  return version;
}

MpirunVersion find_mpirun() {
  return parse_mpirun_version(output_of("mpirun --version 2>/dev/null"));
}

std::vector<std::string> launch_line(const LaunchRequest& request) {
  // srun: a lost task must not end the step, as with recovery under mpirun.
  std::vector<std::string> line = request.launcher == "srun"
                                      ? words("srun --mpi=pmix --kill-on-bad-exit=0")
                                      : mpirun_words(request);
  line.emplace_back("-n");
  line.push_back(fmt::format("{}", request.n_workers + 1));
  line.insert(line.end(), request.program.begin(), request.program.end());
  return line;
}

std::string starter_of(const std::vector<std::string>& line) {
  const auto word = std::ranges::find_if_not(line, [](const std::string& one) {
    return one == "env" || one.find('=') != std::string::npos;
  });
  return word == line.end() ? "" : *word;
}

std::string shell_quoted(const std::vector<std::string>& line) {
  std::string out;
  for (const auto& word : line) {
    if (!out.empty()) out += ' ';
    if (!needs_quotes(word)) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word)
      out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

}  // namespace sticky::cli
