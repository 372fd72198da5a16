#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sticky/base/clock.hpp"
#include "sticky/protocol/message.hpp"

namespace sticky::protocol {

/// The other end of a link, as numbered by the transport. A peer number is never used again.
using PeerId = Id<struct PeerTag>;

struct Arrived {
  PeerId from;
  Message message;
};
struct PeerLost {
  PeerId peer;
  std::string reason;
};
using Incoming = std::variant<Arrived, PeerLost>;

/// Messages between this process and its peers: MPI in life, a queue in tests. Never blocks longer
/// than asked; messages between two processes keep their order. send() may be called from several
/// threads.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] virtual std::vector<PeerId> peers() const = 0;
  /// Queues a message. To a peer that is lost: nothing happens.
  virtual void send(PeerId to, const Message& message) = 0;
  /// What came in; waits up to `patience` for the first. Reports each lost peer exactly once. A
  /// peer whose bytes cannot be decoded is lost.
  [[nodiscard]] virtual std::vector<Incoming> poll(Duration patience) = 0;
  /// Forgets a peer: nothing of it is reported from now on.
  virtual void forget(PeerId peer) = 0;
  /// Bytes queued to a peer and not yet taken by the network.
  [[nodiscard]] virtual i64 unsent_bytes(PeerId peer) const = 0;
};

}  // namespace sticky::protocol
