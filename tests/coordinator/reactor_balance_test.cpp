// Unlike workers, and the end of the run.
#include <chrono>
#include <gmock/gmock.h>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/coordinator/reactor_fixture.hpp"

namespace sticky::coordinator {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Reason = protocol::HandBack::Reason;

constexpr WorkerId kC{3};

class ReactorBalanceTest : public ReactorTest {
 protected:
  std::vector<WorkerId> all_{kA, kB};
  i64 next_ = 0;

  void read(Reactor& reactor, i64 n) {
    (void)tell(reactor, lines(std::exchange(next_, next_ + n), n));
  }
  // The first n that the worker was sent and has not answered.
  void answer_some(Reactor& reactor, WorkerId worker, i64 n) {
    ResultsArrived event{worker, {}};
    for (; n > 0; --n) {
      event.results.push_back(answer(sent_[worker].front()));
      sent_[worker].erase(sent_[worker].begin());
    }
    note(tell(reactor, std::move(event)));
  }
  void note(const Actions& actions) {
    for (const Action& action : actions) {
      const auto* work = std::get_if<SendWork>(&action);
      for (std::size_t k = 0; work != nullptr && k < work->invocations.size(); ++k)
        sent_[work->worker].push_back(work->invocations[k].id.value);
    }
  }
  // A answers ten a second, B one; 40 slots each; nothing is held and nothing waits at the end.
  Reactor make_unlike_pair() {
    Reactor reactor = make();
    make_ready(reactor, kA, 40);
    make_ready(reactor, kB, 40);
    note(tell(reactor, lines(0, 80)));
    next_ = 80;
    for (int k = 0; k < 4; ++k) {
      note(pass(reactor, 1s, all_));
      answer_some(reactor, kA, 10);
    }
    note(pass(reactor, 16s, all_));
    answer_some(reactor, kB, 20);
    note(pass(reactor, 20s, all_));
    answer_some(reactor, kB, 20);
    // While kA was idle, kB was asked; it had started everything.
    (void)tell(reactor, HandedBack{kB, {}, Reason::taken_back});
    (void)pass(reactor, 1s, all_);
    return reactor;
  }
  std::map<WorkerId, std::vector<i64>> sent_;
};

TEST_F(ReactorBalanceTest, WhatIsLeftIsSharedInProportionToMeasuredRates) {
  options_.max_queued_bytes = 1 << 20;
  Reactor reactor = make_unlike_pair();

  note(tell(reactor, lines(80, 22)));

  EXPECT_EQ(reactor.n_held_by(kA), 20);
  EXPECT_EQ(reactor.n_held_by(kB), 2);
}

TEST_F(ReactorBalanceTest, ASlowWorkerIsNotFilledWhileAFastOneCouldFinishEarlier) {
  Reactor reactor = make_unlike_pair();

  note(tell(reactor, lines(80, 66)));  // shares: 60 and 6, and kA has 40 slots

  EXPECT_EQ(reactor.n_held_by(kA), 40);
  EXPECT_EQ(reactor.n_held_by(kB), 6);
  EXPECT_EQ(reactor.n_waiting(), 20);
  answer_some(reactor, kA, 20);
  EXPECT_EQ(reactor.n_held_by(kA), 40);
  EXPECT_EQ(reactor.n_waiting(), 0);
}

TEST_F(ReactorBalanceTest, WhileMuchWaitsEveryWorkerIsFull) {
  Reactor reactor = make_unlike_pair();

  note(tell(reactor, lines(80, 1000)));

  EXPECT_EQ(reactor.n_held_by(kA), 40);
  EXPECT_EQ(reactor.n_held_by(kB), 40);
}

TEST_F(ReactorBalanceTest, AWorkerOfUnknownRateCountsAsTheMeanOfTheOthersBySlots) {
  Reactor reactor = make_unlike_pair();  // 10 and 1 a second with 80 slots
  make_ready(reactor, kC, 16);           // so 2.2 a second

  note(tell(reactor, lines(80, 66)));  // of 13.2 a second

  EXPECT_EQ(reactor.n_held_by(kC), 11);
}

// kB holds 20 unstarted ones beside an idle kA.
class ReactorTakeBackTest : public ReactorBalanceTest {
 protected:
  Reactor make_uneven() {
    Reactor reactor = make_unlike_pair();
    (void)tell(reactor, LeaveAsked{kA});
    (void)tell(reactor, WorkerBye{kA, "told"});
    note(tell(reactor, lines(80, 20)));
    make_ready(reactor, kC, 40);
    all_ = {kB, kC};
    return reactor;
  }
};

TEST_F(ReactorTakeBackTest, UnstartedWorkGoesFromASlowWorkerToAnIdleOne) {
  Reactor reactor = make_uneven();

  // kC counts as kB: half of the work each.
  EXPECT_THAT(
      pass(reactor, 100ms, all_),
      ElementsAre(SendTakeBack{kB, {{99}, {98}, {97}, {96}, {95}, {94}, {93}, {92}, {91}, {90}}}));
  EXPECT_EQ(reactor.n_held_by(kB), 20);
  EXPECT_THAT(pass(reactor, 3s, all_), IsEmpty()) << "one at a time";

  EXPECT_THAT(tell(reactor, results(kB, {90})), ElementsAre(record(kB, {90})));
  EXPECT_THAT(tell(reactor, HandedBack{kB, {{98}, {97}, {99}}, Reason::taken_back}),
              ElementsAre(work(kC, {97, 98, 99})));
  EXPECT_EQ(reactor.state_of(kB), Reactor::WorkerState::ready);
}

TEST_F(ReactorTakeBackTest, WhoCanGiveNothingIsAskedAgainAfterASecond) {
  Reactor reactor = make_uneven();
  ASSERT_THAT(pass(reactor, 100ms, all_), testing::SizeIs(1));

  EXPECT_THAT(tell(reactor, HandedBack{kB, {}, Reason::taken_back}), IsEmpty());
  EXPECT_THAT(pass(reactor, 900ms, all_), IsEmpty());
  EXPECT_THAT(pass(reactor, 200ms, all_), testing::SizeIs(1));
}

TEST_F(ReactorTakeBackTest, NothingIsTakenBackWhileWorkWaits) {
  Reactor reactor = make_uneven();
  (void)tell(reactor, lines(100, 1000));

  for (const Action& action : pass(reactor, 1s, all_))
    EXPECT_FALSE(std::holds_alternative<SendTakeBack>(action));
}

// kA holds 0, kB is idle, the input has ended, and nothing has a rate or a turnaround.
class ReactorCopyTest : public ReactorTest {
 protected:
  Reactor make_straggling() {
    Reactor reactor = make();
    make_ready(reactor, kA, 2);
    make_ready(reactor, kB, 2);
    (void)tell(reactor, lines(0, 1));
    (void)tell(reactor, InputEnded{});
    return reactor;
  }
  Reactor make_racing() {
    Reactor reactor = make_straggling();
    (void)pass(reactor, 1100ms, {kA, kB});
    return reactor;
  }
};

TEST_F(ReactorCopyTest, WhatRunsForMoreThanASecondIsCopiedOnceToAnIdleWorker) {
  Reactor reactor = make_straggling();

  EXPECT_THAT(pass(reactor, 1s, {kA, kB}), IsEmpty());
  EXPECT_THAT(pass(reactor, 100ms, {kA, kB}), ElementsAre(work(kB, {0})));
  EXPECT_THAT(pass(reactor, 10s, {kA, kB}), IsEmpty());
}

TEST_F(ReactorCopyTest, WhatTakesTwiceTheUsualTimeIsCopiedNotBefore) {
  Reactor reactor = make();
  make_ready(reactor, kA, 2);
  make_ready(reactor, kB, 2);
  (void)tell(reactor, lines(0, 1));
  (void)pass(reactor, 5s, {kA, kB});
  (void)tell(reactor, results(kA, {0}));  // a turnaround of 5 s
  (void)tell(reactor, lines(1, 1));
  (void)tell(reactor, InputEnded{});

  EXPECT_THAT(pass(reactor, 10s, {kA, kB}), IsEmpty());
  EXPECT_THAT(pass(reactor, 100ms, {kA, kB}), testing::SizeIs(1));
}

TEST_F(ReactorCopyTest, TheFirstResultCountsAndTheSlotOfTheOtherIsTakenUntilItsOwnComes) {
  Reactor reactor = make_racing();
  (void)tell(reactor, WorkerExpected{{9}});
  (void)tell(reactor, WorkerGone{{9}, "x"});

  EXPECT_EQ(tell(reactor, results(kB, {0})).at(0), Action(record(kB, {0})));
  EXPECT_TRUE(reactor.is_complete());
  EXPECT_EQ(reactor.n_held_by(kA), 0);
  EXPECT_THAT(tell(reactor, results(kA, {0})), IsEmpty());
}

TEST_F(ReactorCopyTest, ALossOfOneOfTheTwoLeavesTheOther) {
  for (const WorkerId lost : {kA, kB}) {
    const WorkerId left = lost == kA ? kB : kA;
    Reactor reactor = make_racing();

    EXPECT_THAT(tell(reactor, WorkerGone{lost, "killed"}),
                ElementsAre(DropWorker{lost, Cause::died, "killed", 1}));
    EXPECT_EQ(reactor.n_held_by(left), 1);
    EXPECT_EQ(tell(reactor, results(left, {0})).at(0), Action(record(left, {0})));
  }
}

TEST_F(ReactorCopyTest, BothHolderLostItWaitsWithBothDeathsCounted) {
  Reactor reactor = make_racing();
  make_ready(reactor, {3}, 2);
  (void)tell(reactor, WorkerGone{kA, "killed"});

  EXPECT_THAT(tell(reactor, WorkerGone{kB, "killed"}),
              ElementsAre(DropWorker{kB, Cause::died, "killed", 1}, work({3}, {0}, 3)));
}

TEST_F(ReactorCopyTest, NothingIsCopiedBetweenUnlikeArithmetics) {
  Reactor reactor = make();
  make_ready(reactor, kA, 2);
  arithmetic_ = "another";
  make_ready(reactor, kB, 2);
  (void)tell(reactor, lines(0, 1));
  (void)tell(reactor, InputEnded{});

  EXPECT_THAT(pass(reactor, 10s, {kA, kB}), IsEmpty());
}

TEST_F(ReactorCopyTest, NothingIsCopiedThatWasInFlightInADeath) {
  Reactor reactor = make_straggling();
  (void)tell(reactor, WorkerGone{kA, "killed"});
  make_ready(reactor, {3}, 2);

  EXPECT_THAT(pass(reactor, 10s, {kB, {3}}), IsEmpty());
}

TEST_F(ReactorCopyTest, NothingIsCopiedWhileMoreInputMayCome) {
  Reactor reactor = make();
  make_ready(reactor, kA, 2);
  make_ready(reactor, kB, 2);
  (void)tell(reactor, lines(0, 1));

  EXPECT_THAT(pass(reactor, 10s, {kA, kB}), IsEmpty());
}

}  // namespace
}  // namespace sticky::coordinator
