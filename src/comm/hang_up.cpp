#include "hang_up.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace sticky::comm {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 1s;
constexpr auto kPause = 2ms;
constexpr int kMostDescriptors = 1024;  // MPI opens its own among the first

// Where PMIx servers of different ages tell their address: "NAMESPACE.RANK;tcp4://ADDRESS:PORT".
constexpr std::array kAddressNames{"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3",
                                   "PMIX_SERVER_URI21", "PMIX_SERVER_URI2"};

std::optional<int> server_port() {
  for (const char* name : kAddressNames) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    const std::string_view text(value);
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) continue;
    int port = 0;
    const char* begin = text.data() + colon + 1;
    if (std::from_chars(begin, text.data() + text.size(), port).ec == std::errc{}) return port;
  }
  return std::nullopt;
}

bool leads_to(int descriptor, int port) {
  sockaddr_in6 address{};
  socklen_t size = sizeof address;
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  // The port stands at the same place in both kinds of address.
  const bool is_tcp = address.sin6_family == AF_INET || address.sin6_family == AF_INET6;
  return is_tcp && ntohs(address.sin6_port) == port;
}

bool is_closed(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return true;
  return info.tcpi_state == TCP_CLOSE || info.tcpi_state == TCP_TIME_WAIT;
}

}  // namespace

void hang_up_on_launcher() {
  const auto port = server_port();
  if (!port) return;
  for (int descriptor = 3; descriptor < kMostDescriptors; ++descriptor) {
    if (!leads_to(descriptor, *port)) continue;
    const int own = ::dup(descriptor);  // PMIx closes its own when the server has hung up
    ::shutdown(descriptor, SHUT_WR);
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    while (!is_closed(own) && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(kPause);
    return;
  }
}

}  // namespace sticky::comm
