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
// A peer gets this many fragments ahead of what MPI has completed: enough to keep a link busy.
constexpr std::size_t kSendAhead = 8;
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
  n_in_head_ = std::min(bytes_.size(), kFragment - sizeof n);
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

// One look at everything. The oldest receives of all links are tested in one call, for a call costs
// about a microsecond whatever it tests.
void MpiTransport::progress() {
  tested_.clear();
  tested_links_.clear();
  for (const auto& [peer, link] : links_) {
    if (!link->is_open) continue;
    tested_.push_back(link->receives[link->next_receive].request);
    tested_links_.push_back(link.get());
  }
  if (tested_.empty()) return;
  indices_.resize(tested_.size());
  statuses_.resize(tested_.size());
  int n_done = 0;
  const int error = MPI_Testsome(static_cast<int>(tested_.size()), tested_.data(), &n_done,
                                 indices_.data(), statuses_.data());
  const bool is_in_status = error == MPI_ERR_IN_STATUS;
  for (int k = 0; k < std::max(n_done, 0); ++k) {
    const auto done = static_cast<std::size_t>(k);
    Link& link = *tested_links_[static_cast<std::size_t>(indices_[done])];
    const int code = is_in_status ? statuses_[done].MPI_ERROR : MPI_SUCCESS;
    receive_head(link, code, statuses_[done]);
    receive_more(link);
  }
  for (Link* link : tested_links_) {
    finish_sends(*link);
    start_sends(*link);
  }
}

// The oldest posted receive of a link has completed.
void MpiTransport::receive_head(Link& link, int error, const MPI_Status& status) {
  Receive& receive = link.receives[link.next_receive];
  receive.request = MPI_REQUEST_NULL;
  if (error != MPI_SUCCESS) {
    lose(link, text_of(error));
    return;
  }
  int n = 0;
  MPI_Get_count(&status, MPI_BYTE, &n);
  ++link.n_arrived;
  accept(link, {receive.buffer.get(), static_cast<std::size_t>(std::max(n, 0))});
  if (!link.is_open) return;
  post(link, receive);
  link.next_receive = (link.next_receive + 1) % link.receives.size();
}

void MpiTransport::receive_more(Link& link) {
  while (link.is_open) {
    int is_done = 0;
    MPI_Status status{};
    const int error = MPI_Test(&link.receives[link.next_receive].request, &is_done, &status);
    if (error == MPI_SUCCESS && is_done == 0) return;
    receive_head(link, error, status);
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
  while (link.is_open && link.in_flight.size() < kSendAhead && link.n_started < link.queue.size()) {
    Outgoing& message = *link.queue[link.n_started];
    const std::string_view fragment = message.next_fragment();
    InFlight sent{.message = &message};
    const int error = MPI_Isend(fragment.data(), static_cast<int>(fragment.size()), MPI_BYTE,
                                link.rank, kTag, link.comm, &sent.request);
    if (error != MPI_SUCCESS) {
      lose(link, text_of(error));
      return;
    }
    ++message.n_in_flight;
    link.in_flight.push_back(sent);
    if (message.is_started()) ++link.n_started;
    // Small messages are gone at once; their memory is free again.
    finish_sends(link);
  }
}

void MpiTransport::finish_sends(Link& link) {
  for (std::size_t k = 0; k < link.in_flight.size();) {
    InFlight& sent = link.in_flight[k];
    int is_done = 0;
    const int error = MPI_Test(&sent.request, &is_done, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS && is_done == 0) {
      ++k;
      continue;
    }
    --sent.message->n_in_flight;
    sent = link.in_flight.back();
    link.in_flight.pop_back();
    if (error != MPI_SUCCESS && link.is_open) lose(link, text_of(error));
  }
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
    finish_sends(link);
    bool is_done = link.in_flight.empty();
    for (Receive& receive : link.receives) {
      int is_complete = 1;
      if (receive.request != MPI_REQUEST_NULL)
        MPI_Test(&receive.request, &is_complete, MPI_STATUS_IGNORE);
      is_done = is_done && is_complete != 0;
    }
    return is_done;
  });
}

void MpiTransport::lose(Link& link, const std::string& reason) {
  close(link);
  inbox_.emplace_back(PeerLost{link.peer, reason});
}

}  // namespace sticky::comm
