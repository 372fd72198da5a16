#include "sticky/comm/in_process_transport.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <thread>

#include <gtest/gtest.h>

#include "sticky/protocol/codec.hpp"

namespace sticky::comm {
namespace {

using namespace std::chrono_literals;
using protocol::Arrived;
using protocol::Bye;
using protocol::Incoming;
using protocol::kCoordinator;
using protocol::PeerId;
using protocol::PeerLost;
using testing::ElementsAre;
using testing::IsEmpty;

// "1: text" for a Bye of peer 1, "1 lost" for its loss.
std::vector<std::string> told(const std::vector<Incoming>& incoming) {
  std::vector<std::string> out;
  for (const Incoming& one : incoming) {
    if (const auto* arrived = std::get_if<Arrived>(&one))
      out.push_back(std::to_string(arrived->from.value) + ": " +
                    std::get<Bye>(arrived->message).reason);
    else
      out.push_back(std::to_string(std::get<PeerLost>(one).peer.value) + " lost");
  }
  return out;
}

TEST(InProcessTransport, MessagesArriveInOrderAndOnlyAtTheirPeer) {
  auto links = make_in_process_links(2);
  links.coordinator->send(PeerId{1}, Bye{"a"});
  links.coordinator->send(PeerId{1}, Bye{"b"});
  links.workers[1]->send(kCoordinator, Bye{"c"});

  EXPECT_THAT(told(links.workers[0]->poll({})), ElementsAre("0: a", "0: b"));
  EXPECT_THAT(told(links.workers[1]->poll({})), IsEmpty());
  EXPECT_THAT(told(links.coordinator->poll({})), ElementsAre("2: c"));
}

TEST(InProcessTransport, AClosedSideIsLostOnceAfterItsLastMessage) {
  auto links = make_in_process_links(1);
  links.workers[0]->send(kCoordinator, Bye{"last"});
  links.workers.clear();

  EXPECT_THAT(told(links.coordinator->poll({})), ElementsAre("1: last", "1 lost"));
  links.coordinator->send(PeerId{1}, Bye{"to nobody"});
  EXPECT_THAT(told(links.coordinator->poll({})), IsEmpty());
  EXPECT_THAT(links.coordinator->peers(), IsEmpty());
}

TEST(InProcessTransport, APeerWhoseBytesMakeNoSenseIsLost) {
  auto links = make_in_process_links(1);
  links.workers[0]->send_bytes(kCoordinator, "rubbish");
  links.workers[0]->send(kCoordinator, Bye{"too late"});

  EXPECT_THAT(told(links.coordinator->poll({})), ElementsAre("1 lost"));
}

TEST(InProcessTransport, NothingOfAForgottenPeerIsReported) {
  auto links = make_in_process_links(1);
  links.workers[0]->send(kCoordinator, Bye{"late"});
  links.coordinator->forget({1});
  links.workers.clear();

  EXPECT_THAT(told(links.coordinator->poll({})), IsEmpty());
}

TEST(InProcessTransport, ArrivalsAreCountedBeforeAnybodyPolls) {
  auto links = make_in_process_links(1);
  links.coordinator->send(PeerId{1}, protocol::Beat{});

  EXPECT_EQ(links.workers[0]->n_arrived(kCoordinator), 1);
}

TEST(InProcessTransport, PollWakesForAMessageOfAnotherThread) {
  auto links = make_in_process_links(1);
  std::thread sender([&] { links.workers[0]->send(kCoordinator, Bye{"hello"}); });

  // Far more patience than any machine needs: a poll that does not wake would run into the test's
  // time limit.
  EXPECT_THAT(told(links.coordinator->poll(1h)), ElementsAre("1: hello"));
  sender.join();
}

}  // namespace
}  // namespace sticky::comm
