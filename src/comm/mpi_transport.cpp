#include "mpi_transport.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "sticky/base/check.hpp"
#include "sticky/base/error.hpp"
#include "sticky/protocol/codec.hpp"

#include "mpi_error.hpp"

namespace sticky::comm {

namespace {

using protocol::Arrived;
using protocol::Incoming;
using protocol::PeerId;
using protocol::PeerLost;
using namespace std::chrono_literals;

constexpr int kTag = 7;
// Memory that a message gets before it is there: one that only claims to be long gets no more.
constexpr i64 kReserved = protocol::kBatchBytes + (64 << 10);
// Bytes that a peer gets ahead of what MPI has completed: enough to keep a link busy.
constexpr i64 kSendAhead = 256 << 10;
// Idle sleep: spinning cost the workers three quarters of their throughput on two cores.
constexpr Duration kShortSleep = 20us;
constexpr Duration kLongSleep = 500us;

// Posted receives a peer. Few where there are many peers, for each takes a fragment's memory.
std::size_t n_receives_for(i64 n_peers) {
  return n_peers <= 64 ? 4 : n_peers <= 1024 ? 2 : 1;
}

}  // namespace

MpiTransport::Outgoing::Outgoing(std::string message) : bytes_(std::move(message)) {
  const i64 n = static_cast<i64>(bytes_.size());
  n_in_head_ = std::min(bytes_.size(), kFirstFragment - sizeof n);
  head_.resize(sizeof n + n_in_head_);
  std::memcpy(head_.data(), &n, sizeof n);
  std::memcpy(head_.data() + sizeof n, bytes_.data(), n_in_head_);
}

std::string_view MpiTransport::Outgoing::next_fragment() {
  if (n_started_ == 0) {
    n_started_ = n_in_head_;
    return head_;
  }
  const auto fragment = std::string_view(bytes_).substr(n_started_, kFragment);
  n_started_ += fragment.size();
  return fragment;
}

MpiTransport::MpiTransport(PeerId first_peer) : next_peer_(first_peer.value) {}

PeerId MpiTransport::link(MPI_Comm comm, int rank, i64 n_expected) {
  const std::lock_guard lock(mutex_);
  bury_closed();
  auto link = std::make_unique<Link>();
  link->peer = {next_peer_++};
  link->comm = comm;
  link->rank = rank;
  link->receives.resize(n_receives_for(n_expected));
  for (Receive& receive : link->receives) {
    receive.buffer = std::make_unique<char[]>(kFragment);
    post(*link, receive);
  }
  const PeerId peer = link->peer;
  links_.emplace(peer.value, std::move(link));
  return peer;
}

MpiTransport::~MpiTransport() {
  const std::lock_guard lock(mutex_);
  for (auto& [peer, link] : links_)
    if (link->is_open) close(*link);
  bury_closed();
  // MPI may still write to or read from these buffers: they go with the process.
  for (auto& [peer, link] : links_)
    (void)link.release();
}

std::vector<PeerId> MpiTransport::peers() const {
  const std::lock_guard lock(mutex_);
  std::vector<PeerId> out;
  for (const auto& [peer, link] : links_)
    if (link->is_open) out.push_back(link->peer);
  return out;
}

MpiTransport::Link* MpiTransport::open_link(PeerId peer) const {
  const auto found = links_.find(peer.value);
  return found != links_.end() && found->second->is_open ? found->second.get() : nullptr;
}

void MpiTransport::send_bytes(PeerId to, std::string encoded) {
  STICKY_CHECK(static_cast<i64>(encoded.size()) <= protocol::kMaxMessageBytes);
  const std::lock_guard lock(mutex_);
  if (Link* link = open_link(to)) {
    link->n_unsent_bytes += static_cast<i64>(encoded.size());
    link->queue.push_back(std::make_unique<Outgoing>(std::move(encoded)));
    start_sends(*link);
  }
}

std::vector<Incoming> MpiTransport::poll(Duration patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  Duration sleep = kShortSleep;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      progress();
      if (!inbox_.empty()) return std::exchange(inbox_, {});
    }
    const Duration left = end - std::chrono::steady_clock::now();
    if (left <= Duration{}) return {};
    std::this_thread::sleep_for(std::min(sleep, left));
    sleep = std::min(2 * sleep, kLongSleep);
  }
}

void MpiTransport::forget(PeerId peer) {
  const std::lock_guard lock(mutex_);
  if (Link* link = open_link(peer)) close(*link);
  bury_closed();
  std::erase_if(inbox_, [&](const Incoming& incoming) {
    const auto* arrived = std::get_if<Arrived>(&incoming);
    return arrived != nullptr ? arrived->from == peer : std::get<PeerLost>(incoming).peer == peer;
  });
}

i64 MpiTransport::unsent_bytes(PeerId peer) const {
  const std::lock_guard lock(mutex_);
  const Link* link = open_link(peer);
  return link != nullptr ? link->n_unsent_bytes : 0;
}

i64 MpiTransport::n_arrived(PeerId peer) {
  const std::lock_guard lock(mutex_);
  progress();
  const Link* link = open_link(peer);
  return link != nullptr ? link->n_arrived : 0;
}

// Looks until a message has come or there is none. MPI fetches what has arrived only in a look that
// finds nothing done, so the first such look is not the last one.
void MpiTransport::progress() {
  constexpr int kMaxLooks = 64;
  const std::size_t n_before = inbox_.size();
  int n_in_vain = 0;
  for (int k = 0; k < kMaxLooks && n_in_vain < 2 && inbox_.size() == n_before; ++k)
    n_in_vain += test_all() == 0 ? 1 : 0;
}

// All in one call, for a call that finds nothing costs a microsecond and more. Gives how many
// requests were done.
int MpiTransport::test_all() {
  list_requests();
  if (tested_.empty()) return 0;
  int n_done = 0;
  const int error = MPI_Testsome(static_cast<int>(tested_.size()), tested_.data(), &n_done,
                                 indices_.data(), statuses_.data());
  n_done = std::max(n_done, 0);
  for (int k = 0; k < n_done; ++k) {
    const auto done = static_cast<std::size_t>(k);
    const Tested& one = tested_of_[static_cast<std::size_t>(indices_[done])];
    const int code = error == MPI_ERR_IN_STATUS ? statuses_[done].MPI_ERROR : MPI_SUCCESS;
    *one.request = MPI_REQUEST_NULL;
    if (one.receive != nullptr) {
      one.receive->is_done = true;
      one.receive->error = code;
      one.receive->status = statuses_[done];
    } else if (code != MPI_SUCCESS) {
      one.link->send_error = code;
    }
  }
  if (n_done == 0) return 0;
  for (const auto& [peer, link] : links_) {
    if (!link->is_open) continue;
    // First what had come before the link broke: it may be the last answers and the goodbye.
    take_received(*link);
    if (link->is_open && link->send_error != MPI_SUCCESS) lose(*link, text_of(link->send_error));
    forget_sent(*link);
    start_sends(*link);
  }
  return n_done;
}

void MpiTransport::list_requests() {
  tested_.clear();
  tested_of_.clear();
  for (const auto& [peer, link] : links_) {
    if (!link->is_open) continue;
    for (Receive& receive : link->receives)
      list(*link, receive.request, &receive);
    for (InFlight& sent : link->in_flight)
      list(*link, sent.request, nullptr);
  }
  indices_.resize(tested_.size());
  statuses_.resize(tested_.size());
}

void MpiTransport::list(Link& link, MPI_Request& request, Receive* receive) {
  tested_.push_back(request);
  tested_of_.push_back({&link, &request, receive});
}

// In the order of posting, which is the order of sending.
void MpiTransport::take_received(Link& link) {
  while (link.is_open && link.receives[link.next_receive].is_done) {
    Receive& receive = link.receives[link.next_receive];
    receive.is_done = false;
    if (receive.error != MPI_SUCCESS) {
      lose(link, text_of(receive.error));
      return;
    }
    int n = 0;
    MPI_Get_count(&receive.status, MPI_BYTE, &n);
    ++link.n_arrived;
    accept(link, {receive.buffer.get(), static_cast<std::size_t>(std::max(n, 0))});
    if (!link.is_open) return;
    post(link, receive);
    link.next_receive = (link.next_receive + 1) % link.receives.size();
  }
}

void MpiTransport::accept(Link& link, std::string_view fragment) {
  if (link.n_expected < 0) {
    i64 n = -1;
    if (fragment.size() >= sizeof n) std::memcpy(&n, fragment.data(), sizeof n);
    if (n < 0 || n > protocol::kMaxMessageBytes) {
      lose(link, fmt::format("it announced a message of {} bytes; at most {} are allowed", n,
                             protocol::kMaxMessageBytes));
      return;
    }
    fragment.remove_prefix(sizeof n);
    link.n_expected = n;
    if (n == static_cast<i64>(fragment.size())) {
      deliver(link, fragment);
      return;
    }
  }
  if (link.incoming.empty())
    link.incoming.reserve(static_cast<std::size_t>(std::min(link.n_expected, kReserved)));
  link.incoming.append(fragment);
  const i64 n_have = static_cast<i64>(link.incoming.size());
  if (n_have > link.n_expected || fragment.empty()) {
    lose(link, fmt::format("{} bytes came of a message of {}", n_have, link.n_expected));
  } else if (n_have == link.n_expected) {
    // Moved out: a large message must not occupy its memory for ever.
    const std::string whole = std::exchange(link.incoming, {});
    deliver(link, whole);
  }
}

void MpiTransport::deliver(Link& link, std::string_view message) {
  link.n_expected = -1;
  try {
    inbox_.emplace_back(Arrived{link.peer, protocol::decode(message)});
  } catch (const FormatError& e) {
    lose(link, e.what());
  }
}

void MpiTransport::post(Link& link, Receive& receive) {
  const int error = MPI_Irecv(receive.buffer.get(), static_cast<int>(kFragment), MPI_BYTE,
                              link.rank, kTag, link.comm, &receive.request);
  if (error != MPI_SUCCESS) lose(link, text_of(error));
}

void MpiTransport::start_sends(Link& link) {
  while (link.is_open && link.n_in_flight_bytes < kSendAhead &&
         link.n_started < link.queue.size()) {
    Outgoing& message = *link.queue[link.n_started];
    const std::string_view fragment = message.next_fragment();
    InFlight sent{.message = &message, .n_bytes = static_cast<i64>(fragment.size())};
    int error = MPI_Isend(fragment.data(), static_cast<int>(fragment.size()), MPI_BYTE, link.rank,
                          kTag, link.comm, &sent.request);
    // Short ones are gone at once.
    int is_done = 0;
    if (error == MPI_SUCCESS && fragment.size() <= kFirstFragment)
      error = MPI_Test(&sent.request, &is_done, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) {
      lose(link, text_of(error));
      return;
    }
    if (message.is_started()) ++link.n_started;
    if (is_done != 0) continue;
    ++message.n_in_flight;
    link.n_in_flight_bytes += sent.n_bytes;
    link.in_flight.push_back(sent);
  }
  forget_sent(link);
}

// Frees the messages whose fragments are all done.
void MpiTransport::forget_sent(Link& link) {
  std::erase_if(link.in_flight, [&](const InFlight& sent) {
    if (sent.request != MPI_REQUEST_NULL) return false;
    --sent.message->n_in_flight;
    link.n_in_flight_bytes -= sent.n_bytes;
    return true;
  });
  while (link.n_started > 0 && link.queue.front()->n_in_flight == 0) {
    link.n_unsent_bytes -= link.queue.front()->n_bytes();
    link.queue.pop_front();
    --link.n_started;
  }
}

// What has begun keeps its buffers, for MPI may still use them; the rest is dropped.
void MpiTransport::close(Link& link) {
  link.is_open = false;
  const bool is_half_sent =
      link.n_started < link.queue.size() && link.queue[link.n_started]->n_in_flight > 0;
  link.queue.resize(link.n_started + (is_half_sent ? 1 : 0));
  link.incoming = {};
  for (Receive& receive : link.receives)
    if (receive.request != MPI_REQUEST_NULL) MPI_Cancel(&receive.request);
}

// Frees the closed links that MPI is done with. A cancelled receive is done at once, unless a large
// fragment was on its way into it; a send to a dead process may never be.
void MpiTransport::bury_closed() {
  std::erase_if(links_, [&](const auto& entry) {
    Link& link = *entry.second;
    if (link.is_open) return false;
    bool is_done = true;
    const auto test = [&](MPI_Request& request) {
      int is_complete = 1;
      if (request != MPI_REQUEST_NULL) MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
      is_done = is_done && is_complete != 0;
    };
    for (InFlight& sent : link.in_flight)
      test(sent.request);
    for (Receive& receive : link.receives)
      test(receive.request);
    forget_sent(link);
    return is_done;
  });
}

void MpiTransport::lose(Link& link, const std::string& reason) {
  close(link);
  inbox_.emplace_back(PeerLost{link.peer, reason});
}

}  // namespace sticky::comm
