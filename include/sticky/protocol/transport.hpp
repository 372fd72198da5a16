#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sticky/base/clock.hpp"
#include "sticky/protocol/codec.hpp"
#include "sticky/protocol/message.hpp"

namespace sticky::protocol {

/// The other end of a link, as numbered by the transport. A peer number is never used again. The
/// coordinator is peer 0 of every worker; a worker's peer number is its WorkerId.
using PeerId = Id<struct PeerTag>;
inline constexpr PeerId kCoordinator{0};

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
/// than asked; messages between two processes keep their order. send(), send_bytes() and
/// n_arrived() may be called from any thread, poll() from one.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] virtual std::vector<PeerId> peers() const = 0;
  /// Queues a message. To a peer that is lost: nothing happens.
  void send(PeerId to, const Message& message) { send_bytes(to, encode(message)); }
  /// The same for a message that is encoded already. At most kMaxMessageBytes.
  virtual void send_bytes(PeerId to, std::string encoded) = 0;
  /// What came in; waits up to `patience` for the first. Reports each lost peer exactly once. A
  /// peer whose bytes cannot be decoded is lost.
  [[nodiscard]] virtual std::vector<Incoming> poll(Duration patience) = 0;
  /// Forgets a peer: nothing of it is reported from now on, nothing is sent to it any more.
  virtual void forget(PeerId peer) = 0;
  /// Bytes queued to a peer and not yet taken by the network.
  [[nodiscard]] virtual i64 unsent_bytes(PeerId peer) const = 0;
  /// Messages and parts of messages that came in from a peer so far, whether poll() has been called
  /// or not: a number that moves means that the peer lives.
  [[nodiscard]] virtual i64 n_arrived(PeerId peer) = 0;
};

}  // namespace sticky::protocol
