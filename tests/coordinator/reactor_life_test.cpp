// Why workers are gone and what it costs, and who may load.
#include <chrono>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "tests/coordinator/reactor_fixture.hpp"

namespace sticky::coordinator {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr WorkerId kC{3};

class ReactorLifeTest : public ReactorTest {};

TEST_F(ReactorLifeTest, APreemptedWorkerThatIsKilledBeforeItsByeCostsNoAttempt) {
  options_.attempts = 1;
  Reactor reactor = make();
  make_ready(reactor, kB, 1);
  make_ready(reactor, kA, 1);
  (void)tell(reactor, lines(0, 2));  // 1 to kA
  (void)tell(reactor, HandedBack{kA, {}});

  EXPECT_THAT(tell(reactor, WorkerGone{kA, "killed"}),
              ElementsAre(DropWorker{kA, Cause::preempted, "killed", 1, false}));
  EXPECT_THAT(tell(reactor, results(kB, {0})), ElementsAre(record(kB, {0}), work(kB, {1})));
}

TEST_F(ReactorLifeTest, AWorkerThatIsToldToLeaveAndDiesOfItsWorkCostsAnAttempt) {
  Reactor reactor = make();
  (void)tell(reactor, WorkerExpected{{9}});
  make_ready(reactor, kA, 1);
  (void)tell(reactor, lines(0, 1));
  (void)tell(reactor, LeaveAsked{kA});
  (void)tell(reactor, WorkerGone{kA, "killed"});

  (void)tell(reactor, WorkerJoined{kB});
  EXPECT_THAT(tell(reactor, WorkerReady{kB, 1}), ElementsAre(work(kB, {0}, 2)));
}

TEST_F(ReactorLifeTest, AFailureNamesTheCauseOfEachDeath) {
  Reactor reactor = make();
  (void)tell(reactor, HelpExpected{true});
  make_ready(reactor, kA, 1);
  (void)tell(reactor, lines(0, 1));
  (void)pass(reactor, 5100ms);  // silent
  make_ready(reactor, kB, 1);
  (void)pass(reactor, 60100ms, {kB});  // no step
  make_ready(reactor, kC, 1);

  EXPECT_THAT(tell(reactor, WorkerFailed{kC, "device lost"}),
              ElementsAre(DropWorker{kC, Cause::device_failed, "device lost", 1},
                          RecordFailure{{0}, {Cause::frozen, Cause::hung, Cause::device_failed}}));
}

TEST_F(ReactorLifeTest, ARunToWhichNoneOfTheExpectedHelpCameIsOver) {
  Reactor reactor = make();
  (void)tell(reactor, lines(0, 1));
  (void)tell(reactor, HelpExpected{true});
  EXPECT_EQ(reactor.phase(), Reactor::Phase::running);
  (void)tell(reactor, HelpExpected{false});

  EXPECT_EQ(reactor.phase(), Reactor::Phase::ended);
  EXPECT_TRUE(reactor.are_all_lost());
}

TEST_F(ReactorLifeTest, NoMoreHostsThanAllowedLoadAtOnceAndTheNextFollows) {
  options_.max_readers = 1;
  Reactor reactor = make();

  EXPECT_THAT(tell(reactor, WorkerJoined{kA, "one"}), ElementsAre(SendWelcome{kA}));
  EXPECT_THAT(tell(reactor, WorkerJoined{kB, "two"}), IsEmpty());
  EXPECT_EQ(reactor.state_of(kB), Reactor::WorkerState::joined);
  EXPECT_THAT(tell(reactor, WorkerReady{kA, 1}), ElementsAre(SendWelcome{kB}));
  EXPECT_THAT(tell(reactor, WorkerJoined{kC, "three"}), IsEmpty());
  EXPECT_THAT(tell(reactor, WorkerFailed{kB, "no such file"}),
              ElementsAre(DropWorker{kB, Cause::load_failed, "no such file", 0}, SendWelcome{kC}));
}

TEST_F(ReactorLifeTest, WorkersOfOneHostLoadTogether) {
  options_.max_readers = 1;
  Reactor reactor = make();
  (void)tell(reactor, WorkerJoined{{9}, "other"});
  (void)tell(reactor, WorkerJoined{kA, "one"});

  EXPECT_THAT(tell(reactor, WorkerJoined{kB, "one"}), IsEmpty());
  EXPECT_THAT(tell(reactor, WorkerReady{{9}, 1}), ElementsAre(SendWelcome{kA}, SendWelcome{kB}));
  EXPECT_THAT(tell(reactor, WorkerJoined{kC, "one"}), ElementsAre(SendWelcome{kC}));
}

TEST_F(ReactorLifeTest, WaitingForAWelcomeIsNoTimeOfLoading) {
  options_.max_readers = 1;
  options_.load_timeout_seconds = 10;
  Reactor reactor = make();
  (void)tell(reactor, WorkerJoined{kA, "one"});
  (void)tell(reactor, WorkerJoined{kB, "two"});
  (void)pass(reactor, 10s, {kA, kB});
  (void)tell(reactor, WorkerReady{kA, 1});

  EXPECT_THAT(pass(reactor, 10s, {kA, kB}), IsEmpty());
  EXPECT_THAT(pass(reactor, 100ms, {kA, kB}), testing::SizeIs(1));
}

}  // namespace
}  // namespace sticky::coordinator
