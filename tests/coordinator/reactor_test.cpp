#include "sticky/coordinator/reactor.hpp"

#include <chrono>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "tests/coordinator/reactor_fixture.hpp"

namespace sticky::coordinator {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(ReactorTest, AWorkerThatJoinsIsWelcomedAndGetsNothingBeforeItsStateIsReady) {
  Reactor reactor = make();
  (void)tell(reactor, lines(0, 3));

  EXPECT_THAT(tell(reactor, WorkerJoined{kA}), ElementsAre(SendWelcome{kA}));
  EXPECT_THAT(tell(reactor, WorkerReady{kA, 2}), ElementsAre(work(kA, {0, 1})));
}

TEST_F(ReactorTest, AResultIsRecordedAndItsSlotFilledInTheSameTurn) {
  Reactor reactor = make();
  make_ready(reactor, kA, 2);
  (void)tell(reactor, lines(0, 4));

  EXPECT_THAT(tell(reactor, results(kA, {1, 0})),
              ElementsAre(record(kA, {1, 0}), work(kA, {2, 3})));
}

TEST_F(ReactorTest, ADoubledAnUnknownAndAForeignResultAreDropped) {
  Reactor reactor = make();
  make_ready(reactor, kA, 1);
  make_ready(reactor, kB, 1);
  (void)tell(reactor, lines(0, 2));
  (void)tell(reactor, results(kA, {0}));

  EXPECT_THAT(tell(reactor, results(kA, {0})), IsEmpty());   // again
  EXPECT_THAT(tell(reactor, results(kA, {1})), IsEmpty());   // kB holds it
  EXPECT_THAT(tell(reactor, results(kA, {77})), IsEmpty());  // never read
  EXPECT_THAT(tell(reactor, results(kB, {1, 1})), ElementsAre(record(kB, {1})));
}

TEST_F(ReactorTest, WorkOfALostWorkerRunsElsewhereInOrderAndItsLateResultIsDropped) {
  Reactor reactor = make();
  make_ready(reactor, kA, 3);
  (void)tell(reactor, lines(0, 5));       // kA holds 0 1 2
  make_ready(reactor, kB, 4);             // and kB 3 4
  (void)tell(reactor, lines(5, 4));       // 5 6 go to kB, 7 8 wait
  (void)tell(reactor, results(kA, {0}));  // 7 goes to kA

  EXPECT_THAT(tell(reactor, WorkerGone{kA, "killed"}),
              ElementsAre(DropWorker{kA, Cause::died, "killed", 3}));
  EXPECT_THAT(tell(reactor, results(kA, {1})), IsEmpty());
  EXPECT_THAT(tell(reactor, WorkerJoined{kA}), IsEmpty());
  const auto actions = tell(reactor, results(kB, {3, 4, 5, 6}));

  ASSERT_EQ(actions.size(), 2U);
  EXPECT_EQ(std::get<SendWork>(actions[1]),
            (SendWork{kB, {{{1}, 2}, {{2}, 2}, {{7}, 2}, {{8}, 1}}}));
}

TEST_F(ReactorTest, FewInvocationsAreSharedEvenly) {
  Reactor reactor = make();
  make_ready(reactor, kA, 8);
  make_ready(reactor, kB, 8);

  EXPECT_THAT(tell(reactor, lines(0, 5)), ElementsAre(work(kA, {0, 1, 2}), work(kB, {3, 4})));
}

TEST_F(ReactorTest, UnlikeWorkersGetSharesInProportionToTheirSlots) {
  Reactor reactor = make();
  make_ready(reactor, kA, 30);
  make_ready(reactor, kB, 10);

  (void)tell(reactor, lines(0, 20));

  EXPECT_EQ(reactor.n_held_by(kA), 15);
  EXPECT_EQ(reactor.n_held_by(kB), 5);
}

TEST_F(ReactorTest, AFixedBatchCutsWhatAWorkerGetsIntoMessages) {
  options_.batch = 2;
  Reactor reactor = make();
  make_ready(reactor, kA, 5);

  EXPECT_THAT(tell(reactor, lines(0, 9)),
              ElementsAre(work(kA, {0, 1}), work(kA, {2, 3}), work(kA, {4})));
}

TEST_F(ReactorTest, AJournalUnderPressureStopsDispatchAndReadingUntilItIsRelieved) {
  Reactor reactor = make();
  make_ready(reactor, kA, 2);
  (void)tell(reactor, JournalPressed{true});

  EXPECT_FALSE(reactor.wants_input());
  EXPECT_THAT(tell(reactor, lines(0, 1)), IsEmpty());
  EXPECT_THAT(tell(reactor, JournalPressed{false}), ElementsAre(work(kA, {0})));
  EXPECT_TRUE(reactor.wants_input());
}

TEST_F(ReactorTest, ReadingAheadStopsAtTheMemoryBoundAndGoesOnWhenResultsFreeIt) {
  options_.max_queued_bytes = 250;
  Reactor reactor = make();
  make_ready(reactor, kA, 1);
  (void)tell(reactor, lines(0, 2));
  EXPECT_TRUE(reactor.wants_input());
  (void)tell(reactor, lines(2, 1));

  EXPECT_FALSE(reactor.wants_input());
  (void)tell(reactor, results(kA, {0}));
  EXPECT_TRUE(reactor.wants_input());
}

TEST_F(ReactorTest, ReadingAheadKeepsToWhatWaitsForSomeTimeHoweverShortTheLinesAre) {
  Reactor reactor = make();
  (void)tell(reactor, lines(0, 4095));
  EXPECT_TRUE(reactor.wants_input());
  (void)tell(reactor, lines(4095, 1));

  EXPECT_FALSE(reactor.wants_input());
  make_ready(reactor, kA, 1);
  EXPECT_TRUE(reactor.wants_input());
}

TEST_F(ReactorTest, ManySlotsAreReadAheadForTwice) {
  Reactor reactor = make();
  make_ready(reactor, kA, 10000);
  (void)tell(reactor, lines(0, 10000 + 19999));  // one part runs, the other waits
  EXPECT_TRUE(reactor.wants_input());
  (void)tell(reactor, lines(29999, 1));

  EXPECT_FALSE(reactor.wants_input());
}

TEST_F(ReactorTest, WhenAllIsRecordedEveryWorkerLeavesAndThenTheRunIsOver) {
  Reactor reactor = make();
  (void)tell(reactor, WorkerExpected{kB});  // never says a word
  make_ready(reactor, kA, 2);
  (void)tell(reactor, lines(0, 1));
  (void)tell(reactor, InputEnded{});

  EXPECT_THAT(tell(reactor, results(kA, {0})),
              ElementsAre(record(kA, {0}), SendLeave{kA, true}, SendLeave{kB, true}));
  EXPECT_EQ(reactor.phase(), Reactor::Phase::closing);
  EXPECT_THAT(tell(reactor, WorkerBye{kA, "told"}),
              ElementsAre(DropWorker{kA, Cause::left, "told", 0, true}));
  EXPECT_THAT(tell(reactor, WorkerJoined{kB}), IsEmpty());
  EXPECT_THAT(tell(reactor, WorkerBye{kB, "told"}),
              ElementsAre(DropWorker{kB, Cause::left, "told", 0, true}));
  EXPECT_EQ(reactor.phase(), Reactor::Phase::ended);
  EXPECT_TRUE(reactor.is_complete());
  EXPECT_FALSE(reactor.are_all_lost());
}

TEST_F(ReactorTest, ASilentWorkerIsLostAfterTheHeartbeatTimeout) {
  Reactor reactor = make();
  make_ready(reactor, kA, 1);
  make_ready(reactor, kB, 1);

  EXPECT_THAT(pass(reactor, 5s, {kB}), IsEmpty());
  EXPECT_THAT(pass(reactor, 100ms, {kB}),
              ElementsAre(DropWorker{kA, Cause::frozen, "no heartbeat for 5.1 s", 0}));
}

TEST_F(ReactorTest, ALoadingWorkerMayBeSilentForLongerAndLoadUntilItsTimeout) {
  options_.load_timeout_seconds = 100;
  Reactor reactor = make();
  (void)tell(reactor, WorkerJoined{kA});
  (void)tell(reactor, WorkerJoined{kB});

  EXPECT_THAT(pass(reactor, 30s, {kB}), IsEmpty());
  EXPECT_THAT(pass(reactor, 100ms, {kB}),
              ElementsAre(DropWorker{kA, Cause::frozen, "no heartbeat for 30.1 s", 0}));
  EXPECT_THAT(pass(reactor, 69900ms, {kB}), IsEmpty());
  EXPECT_THAT(pass(reactor, 100ms, {kB}),
              ElementsAre(DropWorker{kB, Cause::load_too_long, "no state after 100 s", 0}));
}

TEST_F(ReactorTest, AnEngineThatStandsStillWithWorkHangsButAnIdleOneDoesNot) {
  Reactor reactor = make();
  make_ready(reactor, kA, 1);
  make_ready(reactor, kB, 1);
  (void)pass(reactor, 100s, {kA, kB});  // idle for long
  (void)tell(reactor, lines(0, 1));     // to kA

  EXPECT_THAT(pass(reactor, 60s, {kA, kB}), IsEmpty());
  const auto actions = pass(reactor, 100ms, {kA, kB});

  ASSERT_EQ(actions.size(), 2U);
  EXPECT_EQ(std::get<DropWorker>(actions[0]).cause, Cause::hung);
  EXPECT_EQ(std::get<SendWork>(actions[1]), work(kB, {0}, 2));
}

TEST_F(ReactorTest, AnEngineOfLongStepsGetsTwentyTimesItsLongestStep) {
  Reactor reactor = make();
  make_ready(reactor, kA, 1);
  (void)tell(reactor, lines(0, 1));
  (void)pass(reactor, 10s, {kA});
  steps_ = 1;  // a step of 10 s: the bound is 200 s now
  (void)pass(reactor, 100ms, {kA});

  EXPECT_THAT(pass(reactor, 200s, {kA}), IsEmpty());
  EXPECT_THAT(pass(reactor, 3s, {kA}), testing::SizeIs(1));
}

TEST_F(ReactorTest, APauseOfThisProcessMakesNobodyLate) {
  Reactor reactor = make();
  make_ready(reactor, kA, 1);
  (void)tell(reactor, lines(0, 1));
  (void)pass(reactor, 3s);  // silent for 3 s
  now_ += 1h;               // the whole job is stopped and continued

  EXPECT_THAT(tell(reactor, Tick{}), IsEmpty());
  EXPECT_THAT(pass(reactor, 2s), IsEmpty());
  EXPECT_THAT(pass(reactor, 200ms), testing::SizeIs(1));  // 5 s of its own silence
}

TEST_F(ReactorTest, APeerThatNeverSaysHelloIsGivenUpAfterAMinute) {
  Reactor reactor = make();
  (void)tell(reactor, WorkerExpected{kA});

  EXPECT_THAT(pass(reactor, 60s), IsEmpty());
  EXPECT_THAT(pass(reactor, 100ms),
              ElementsAre(DropWorker{kA, Cause::never_joined, "no hello in 60 s", 0}));
  EXPECT_TRUE(reactor.are_all_lost());
}

TEST_F(ReactorTest, TheRunEndsWhenNoWorkerIsLeft) {
  Reactor reactor = make();
  make_ready(reactor, kA, 1);
  (void)tell(reactor, lines(0, 1));

  EXPECT_THAT(tell(reactor, WorkerFailed{kA, "device lost"}),
              ElementsAre(DropWorker{kA, Cause::device_failed, "device lost", 1}));
  EXPECT_EQ(reactor.phase(), Reactor::Phase::ended);
  EXPECT_TRUE(reactor.are_all_lost());
  EXPECT_FALSE(reactor.is_complete());
}

TEST_F(ReactorTest, AStateThatCannotBeLoadedIsNamedSo) {
  Reactor reactor = make();
  (void)tell(reactor, WorkerJoined{kA});
  (void)tell(reactor, WorkerJoined{kB});

  EXPECT_THAT(tell(reactor, WorkerFailed{kA, "no such file"}),
              ElementsAre(DropWorker{kA, Cause::load_failed, "no such file", 0}));
}

// Worker 9, which never comes, keeps the run alive.
TEST_F(ReactorTest, ASuspectRunsAloneOnItsLastAttemptAndFailsWithoutHarmToItsNeighbour) {
  Reactor reactor = make();
  (void)tell(reactor, WorkerExpected{{9}});
  make_ready(reactor, {1}, 2);
  (void)tell(reactor, lines(0, 2));
  (void)tell(reactor, WorkerGone{{1}, "killed"});
  make_ready(reactor, {2}, 2);
  (void)tell(reactor, WorkerGone{{2}, "killed"});
  (void)tell(reactor, lines(2, 1));
  (void)tell(reactor, WorkerJoined{{3}});

  EXPECT_THAT(tell(reactor, WorkerReady{{3}, 2}), ElementsAre(work({3}, {0}, 3)));
  EXPECT_THAT(tell(reactor, WorkerGone{{3}, "killed"}),
              ElementsAre(DropWorker{{3}, Cause::died, "killed", 1},
                          RecordFailure{{0}, std::vector(3, Cause::died)}));

  (void)tell(reactor, WorkerJoined{{4}});
  EXPECT_THAT(tell(reactor, WorkerReady{{4}, 2}), ElementsAre(work({4}, {1}, 3)));
  EXPECT_THAT(tell(reactor, results({4}, {1})), ElementsAre(record({4}, {1}), work({4}, {2}, 1)));
}

TEST_F(ReactorTest, OthersGoOnWhileASuspectIsIsolated) {
  options_.attempts = 2;
  Reactor reactor = make();
  make_ready(reactor, kA, 2);
  (void)tell(reactor, lines(0, 1));
  make_ready(reactor, kB, 2);
  make_ready(reactor, {3}, 2);
  (void)tell(reactor, lines(1, 3));
  ASSERT_EQ(reactor.n_held_by(kA), 2);  // 0 and one more

  (void)tell(reactor, WorkerGone{kA, "killed"});
  const i64 n_suspects = reactor.n_waiting();
  (void)tell(reactor, lines(10, 8));

  EXPECT_EQ(n_suspects, 2);
  // One of the two takes no more work until it is empty, the other is full.
  EXPECT_EQ(reactor.n_held_by(kB) + reactor.n_held_by({3}), 3);
}

TEST_F(ReactorTest, WithOneAttemptADeathIsFinalAndAPlannedLeaveIsNot) {
  options_.attempts = 1;
  Reactor reactor = make();
  (void)tell(reactor, WorkerExpected{{9}});
  make_ready(reactor, kA, 1);
  make_ready(reactor, kB, 1);
  (void)tell(reactor, lines(0, 2));

  EXPECT_THAT(
      tell(reactor, WorkerGone{kA, "killed"}),
      ElementsAre(DropWorker{kA, Cause::died, "killed", 1}, RecordFailure{{0}, {Cause::died}}));
  EXPECT_THAT(tell(reactor, WorkerBye{kB, "preempted"}),
              ElementsAre(DropWorker{kB, Cause::preempted, "preempted", 1, true}));
  EXPECT_EQ(reactor.n_waiting(), 1);
}

TEST_F(ReactorTest, HandedBackWorkGoesToOthersWithoutCostingAnAttempt) {
  Reactor reactor = make();
  make_ready(reactor, kA, 2);
  (void)tell(reactor, lines(0, 3));
  (void)tell(reactor, WorkerJoined{kB});
  (void)tell(reactor, HandedBack{kA, {{1}, {0}, {55}}});  // kA leaves of its own will

  EXPECT_THAT(tell(reactor, WorkerReady{kB, 4}), ElementsAre(work(kB, {0, 1, 2})));
}

TEST_F(ReactorTest, AWorkerWhoseUnstartedWorkWasTakenBackStays) {
  Reactor reactor = make();
  make_ready(reactor, kA, 2);
  (void)tell(reactor, lines(0, 2));
  (void)reactor.on(HandedBack{kA, {{1}}, protocol::HandBack::Reason::taken_back}, now_);

  EXPECT_EQ(reactor.state_of(kA), Reactor::WorkerState::ready);
  EXPECT_EQ(reactor.n_waiting(), 1);
  EXPECT_THAT(tell(reactor, Tick{}), ElementsAre(work(kA, {1})));
}

TEST_F(ReactorTest, ADrainLetsWorkersFinishWithinTheGraceTimeAndThenTakesTheWorkBack) {
  options_.grace_seconds = 10;
  Reactor reactor = make();
  make_ready(reactor, kA, 1);
  (void)tell(reactor, lines(0, 3));

  EXPECT_THAT(tell(reactor, StopAsked{"asked", false}), ElementsAre(SendLeave{kA, false}));
  EXPECT_FALSE(reactor.wants_input());
  EXPECT_THAT(tell(reactor, StopAsked{"asked again", false}), IsEmpty());
  EXPECT_THAT(pass(reactor, 10s, {kA}), IsEmpty());
  EXPECT_THAT(pass(reactor, 100ms, {kA}), ElementsAre(SendLeave{kA, true}));
  EXPECT_THAT(tell(reactor, HandedBack{kA, {{0}}}), IsEmpty());
  EXPECT_THAT(tell(reactor, WorkerBye{kA, "told"}), testing::SizeIs(1));
  EXPECT_EQ(reactor.phase(), Reactor::Phase::ended);
  EXPECT_EQ(reactor.stop_reason(), "asked");
  EXPECT_EQ(reactor.n_waiting(), 3);
}

TEST_F(ReactorTest, ASecondAndSharperRequestToStopTakesTheWorkBackAtOnce) {
  Reactor reactor = make();
  make_ready(reactor, kA, 1);
  (void)tell(reactor, lines(0, 3));
  (void)tell(reactor, StopAsked{"asked", false});

  EXPECT_THAT(tell(reactor, StopAsked{"now", true}), ElementsAre(SendLeave{kA, true}));
  EXPECT_THAT(tell(reactor, StopAsked{"now", true}), IsEmpty());
}

TEST_F(ReactorTest, AWorkerThatDoesNotLeaveIsLostAfterHalfAMinute) {
  Reactor reactor = make();
  make_ready(reactor, kA, 1);
  (void)tell(reactor, InputEnded{});

  EXPECT_THAT(pass(reactor, 30s, {kA}), IsEmpty());
  EXPECT_THAT(
      pass(reactor, 100ms, {kA}),
      ElementsAre(DropWorker{kA, Cause::stayed, "it was told to leave and is still here", 0}));
}

TEST_F(ReactorTest, TheTimeLimitLeavesTheGraceTimeForTheDrain) {
  options_.time_limit_seconds = 100;
  options_.grace_seconds = 30;
  Reactor reactor = make();
  make_ready(reactor, kA, 1);

  EXPECT_THAT(pass(reactor, 69900ms, {kA}), IsEmpty());
  EXPECT_THAT(pass(reactor, 100ms, {kA}), ElementsAre(SendLeave{kA, false}));
  EXPECT_EQ(reactor.phase(), Reactor::Phase::draining);
}

TEST_F(ReactorTest, AWorkerThatTalksOutOfTurnIsLost) {
  Reactor reactor = make();
  make_ready(reactor, kA, 1);
  (void)tell(reactor, WorkerJoined{kB});

  EXPECT_EQ(std::get<DropWorker>(tell(reactor, WorkerJoined{kA}).at(0)).cause, Cause::confused);
  EXPECT_EQ(std::get<DropWorker>(tell(reactor, WorkerReady{kB, 0}).at(0)).cause, Cause::confused);
}

}  // namespace
}  // namespace sticky::coordinator
