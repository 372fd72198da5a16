#include "reach.hpp"

#include <cstdlib>
#include <memory>
#include <netdb.h>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include "sticky/malleability/host.hpp"

#include "command_output.hpp"

namespace sticky::cli {
namespace {

// Only an address of one's own can be bound to.
bool is_own(const addrinfo& address) {
  const int fd = socket(address.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool is_bound = bind(fd, address.ai_addr, address.ai_addrlen) == 0;
  close(fd);
  return is_bound;
}

bool is_this_host(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return false;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  for (const addrinfo* address = all.get(); address != nullptr; address = address->ai_next)
    if (is_own(*address)) return true;
  return false;
}

// Inside Slurm, or where the user chose it, mpirun starts its processes otherwise.
bool is_ssh_used() {
  return std::getenv("SLURM_JOB_ID") == nullptr &&
         std::getenv("OMPI_MCA_plm_rsh_agent") == nullptr && std::getenv("OMPI_MCA_plm") == nullptr;
}

}  // namespace

std::string why_out_of_reach(const std::string& host) {
  if (!is_ssh_used() || is_this_host(host)) return "";
  constexpr std::string_view kWentWell = "reached\n";
  // Open MPI cuts the domain off unless it is told not to.
  const bool is_whole = std::getenv("OMPI_MCA_orte_keep_fqdn_hostnames") != nullptr;
  const std::string said =
      output_of(fmt::format("ssh -x -n -o BatchMode=yes -o ConnectTimeout=5 {} echo reached 2>&1",
                            is_whole ? host : malleability::host_key(host)));
  if (said.ends_with(kWentWell)) return "";
  // The last line tells most, and a reason is one line.
  const std::string_view text(said.data(), said.find_last_not_of("\r\n") + 1);
  const auto before = text.find_last_of('\n');
  const auto line = before == std::string_view::npos ? text : text.substr(before + 1);
  return fmt::format("{} is out of reach: {}", host, line.empty() ? "ssh says nothing" : line);
}

}  // namespace sticky::cli
