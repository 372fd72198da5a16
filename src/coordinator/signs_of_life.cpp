#include "sticky/coordinator/signs_of_life.hpp"

#include <chrono>

#include "sticky/base/error.hpp"

namespace sticky::coordinator {

namespace {

using namespace std::chrono_literals;

constexpr Duration kBeatInterval = 1s;
constexpr Duration kLockInterval = 10s;

void tell_all(protocol::Transport& transport) {
  for (const protocol::PeerId peer : transport.peers()) {
    transport.send(peer, protocol::Beat{});
    // Asking makes the transport move on what was sent before: nobody polls while a run prepares.
    (void)transport.n_arrived(peer);
  }
}

void renew(io::RunFolder& folder) {
  try {
    (void)folder.beat();
  } catch (const Error&) {
    // The next write to the folder tells.
  }
}

}  // namespace

WorkerBeats::WorkerBeats(protocol::Transport& transport)
    : periodic_(kBeatInterval, [&transport] { tell_all(transport); }) {}

LockRenewal::LockRenewal(io::RunFolder& folder)
    : periodic_(kLockInterval, [&folder] { renew(folder); }) {}

}  // namespace sticky::coordinator
