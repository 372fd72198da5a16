#include "sticky/comm/in_process_transport.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "sticky/base/check.hpp"
#include "sticky/base/error.hpp"
#include "sticky/protocol/codec.hpp"

namespace sticky::comm {

namespace {

using protocol::Arrived;
using protocol::Incoming;
using protocol::PeerId;
using protocol::PeerLost;

// What lies ready for one side.
struct Mailbox {
  struct Letter {
    PeerId from;
    std::string bytes;
    bool is_end = false;  // the sender is gone
  };
  std::mutex mutex;
  std::condition_variable filled;
  std::deque<Letter> letters;
  std::map<PeerId, i64> n_arrived;

  void put(Letter letter) {
    const std::lock_guard lock(mutex);
    ++n_arrived[letter.from];
    letters.push_back(std::move(letter));
    filled.notify_one();
  }
};

class InProcessTransport final : public protocol::Transport {
 public:
  InProcessTransport(PeerId self, std::shared_ptr<Mailbox> mailbox)
      : self_(self),
        mailbox_(std::move(mailbox)) {}
  ~InProcessTransport() override {
    const std::lock_guard lock(mutex_);
    for (const auto& [peer, box] : others_)
      box->put({self_, {}, true});
  }

  void connect(PeerId peer, std::shared_ptr<Mailbox> box) { others_[peer] = std::move(box); }

  [[nodiscard]] std::vector<PeerId> peers() const override {
    const std::lock_guard lock(mutex_);
    std::vector<PeerId> out;
    for (const auto& [peer, box] : others_)
      out.push_back(peer);
    return out;
  }

  void send_bytes(PeerId to, std::string encoded) override {
    STICKY_CHECK(static_cast<i64>(encoded.size()) <= protocol::kMaxMessageBytes);
    const std::lock_guard lock(mutex_);
    if (const auto it = others_.find(to); it != others_.end())
      it->second->put({self_, std::move(encoded), false});
  }

  [[nodiscard]] std::vector<Incoming> poll(Duration patience) override {
    std::deque<Mailbox::Letter> letters;
    {
      std::unique_lock lock(mailbox_->mutex);
      if (patience > Duration{})
        mailbox_->filled.wait_for(lock, patience, [&] { return !mailbox_->letters.empty(); });
      letters = std::exchange(mailbox_->letters, {});
    }
    std::vector<Incoming> out;
    for (const Mailbox::Letter& letter : letters)
      open(letter, out);
    return out;
  }

  void forget(PeerId peer) override {
    const std::lock_guard lock(mutex_);
    others_.erase(peer);
  }

  [[nodiscard]] i64 unsent_bytes(PeerId) const override { return 0; }

  [[nodiscard]] i64 n_arrived(PeerId peer) override {
    const std::lock_guard lock(mailbox_->mutex);
    return mailbox_->n_arrived[peer];
  }

 private:
  void open(const Mailbox::Letter& letter, std::vector<Incoming>& out) {
    const std::lock_guard lock(mutex_);
    if (!others_.contains(letter.from)) return;
    if (letter.is_end) {
      others_.erase(letter.from);
      out.emplace_back(PeerLost{letter.from, "its side of the link was closed"});
      return;
    }
    try {
      out.emplace_back(Arrived{letter.from, protocol::decode(letter.bytes)});
    } catch (const FormatError& e) {
      others_.erase(letter.from);
      out.emplace_back(PeerLost{letter.from, e.what()});
    }
  }

  PeerId self_;
  std::shared_ptr<Mailbox> mailbox_;
  mutable std::mutex mutex_;
  std::map<PeerId, std::shared_ptr<Mailbox>> others_;  // without those lost or forgotten
};

}  // namespace

InProcessLinks make_in_process_links(i64 n_workers) {
  const auto coordinator_box = std::make_shared<Mailbox>();
  auto coordinator = std::make_unique<InProcessTransport>(protocol::kCoordinator, coordinator_box);
  InProcessLinks links;
  for (i64 k = 1; k <= n_workers; ++k) {
    const auto box = std::make_shared<Mailbox>();
    auto worker = std::make_unique<InProcessTransport>(PeerId{k}, box);
    worker->connect(protocol::kCoordinator, coordinator_box);
    coordinator->connect({k}, box);
    links.workers.push_back(std::move(worker));
  }
  links.coordinator = std::move(coordinator);
  return links;
}

}  // namespace sticky::comm
