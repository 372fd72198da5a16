#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <mpi.h>

#include "sticky/protocol/transport.hpp"

namespace sticky::comm {

/// Processes reached over communicators as peers, by point-to-point messages only. A link is one
/// rank of one communicator: of the world, or the only process of a spawn's intercommunicator.
///
/// A message travels as a row of fragments of at most kFragment bytes: the first (of at most
/// kFirstFragment) begins with the message's length (64 bits), the others are bare. MPI keeps the
/// order between two ranks, so no fragment needs a number. For each peer a few receives of
/// kFragment bytes are posted all the time; MPI fills them in the order of posting.
///
/// Nothing blocks: Isend, Irecv and Testsome only, all under one mutex (so MPI_THREAD_SERIALIZED
/// is enough), and no wildcard, no collective, no wait for a peer that may be dead. What MPI still
/// holds of a forgotten peer keeps its buffers until the process ends; all else is freed at once.
class MpiTransport final : public protocol::Transport {
 public:
  /// Peers are numbered from `first_peer` in the order in which they are linked.
  explicit MpiTransport(protocol::PeerId first_peer);
  ~MpiTransport() override;  ///< cancels the posted receives that nobody will fill

  /// `n_expected`: how many links there will be in all, as far as is known; each takes memory.
  /// Any thread.
  protocol::PeerId link(MPI_Comm comm, int rank, i64 n_expected);

  [[nodiscard]] std::vector<protocol::PeerId> peers() const override;
  void send_bytes(protocol::PeerId to, std::string encoded) override;
  [[nodiscard]] std::vector<protocol::Incoming> poll(Duration patience) override;
  void forget(protocol::PeerId peer) override;
  [[nodiscard]] i64 unsent_bytes(protocol::PeerId peer) const override;
  [[nodiscard]] i64 n_arrived(protocol::PeerId peer) override;

 private:
  static constexpr std::size_t kFragment = 32 << 10;
  static constexpr std::size_t kFirstFragment = 4000;

  struct Receive {
    std::unique_ptr<char[]> buffer;
    MPI_Request request = MPI_REQUEST_NULL;
    bool is_done = false;
    int error = MPI_SUCCESS;  // once it is done
    MPI_Status status{};      // likewise
  };
  // A message on its way out. The length stands before the first fragment, so that one is a copy;
  // of a long message it is short.
  class Outgoing {
   public:
    explicit Outgoing(std::string message);
    [[nodiscard]] std::string_view next_fragment();
    [[nodiscard]] bool is_started() const { return n_started_ == bytes_.size(); }
    [[nodiscard]] i64 n_bytes() const { return static_cast<i64>(bytes_.size()); }
    i64 n_in_flight = 0;  // fragments that MPI has not completed

   private:
    std::string bytes_;
    std::string head_;
    std::size_t n_in_head_ = 0;
    std::size_t n_started_ = 0;  // bytes handed to MPI
  };
  struct InFlight {
    MPI_Request request = MPI_REQUEST_NULL;  // null: done
    Outgoing* message = nullptr;
    i64 n_bytes = 0;
  };
  struct Link {
    protocol::PeerId peer;
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;
    bool is_open = true;
    int send_error = MPI_SUCCESS;
    std::vector<Receive> receives;  // a ring, in the order of posting
    std::size_t next_receive = 0;   // the oldest one posted
    i64 n_expected = -1;            // bytes of the message under way; -1: none
    std::string incoming;
    i64 n_arrived = 0;
    std::deque<std::unique_ptr<Outgoing>> queue;
    std::size_t n_started = 0;  // messages at the front of the queue that MPI has whole
    std::vector<InFlight> in_flight;
    i64 n_in_flight_bytes = 0;
    i64 n_unsent_bytes = 0;
  };
  struct Tested {
    Link* link;
    MPI_Request* request;
    Receive* receive;  // null: a send
  };

  void progress();
  [[nodiscard]] int test_all();
  void list_requests();
  void list(Link& link, MPI_Request& request, Receive* receive);
  void take_received(Link& link);
  void accept(Link& link, std::string_view fragment);
  void deliver(Link& link, std::string_view message);
  void post(Link& link, Receive& receive);
  void start_sends(Link& link);
  void forget_sent(Link& link);
  void close(Link& link);
  void bury_closed();
  void lose(Link& link, const std::string& reason);
  [[nodiscard]] Link* open_link(protocol::PeerId peer) const;

  mutable std::mutex mutex_;
  i64 next_peer_;
  std::map<i64, std::unique_ptr<Link>> links_;  // by peer: open, or MPI still uses its buffers
  std::vector<protocol::Incoming> inbox_;
  // Of progress(), kept for their memory.
  std::vector<MPI_Request> tested_;
  std::vector<Tested> tested_of_;  // what each of them belongs to
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace sticky::comm
