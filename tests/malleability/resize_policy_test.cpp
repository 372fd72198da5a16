#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "resize_situation.hpp"

namespace sticky::malleability {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// ---- the number of the launch

TEST_F(ResizePolicyTest, KeepsTheNumberOfTheLaunchWithoutBeingAsked) {
  ResizePolicy policy({.initial = 2});
  add(0), add(1);
  const Decision decision = decide(policy);
  EXPECT_THAT(decision.grow, IsEmpty());
  EXPECT_THAT(decision.drain, IsEmpty());
  EXPECT_FALSE(decision.will_grow);
  EXPECT_EQ(decision.why, "");
}

TEST_F(ResizePolicyTest, ReplacesALostWorker) {
  ResizePolicy policy({.initial = 2});
  add(0), add(1);
  (void)decide(policy);
  lose(1);
  const Decision decision = decide(policy);
  EXPECT_THAT(decision.grow, ElementsAre(""));
  EXPECT_EQ(decision.why, "1 of 1 worker missing started");
  now_.spawning = {""};
  EXPECT_THAT(decide(policy).grow, IsEmpty()) << "the one that is on its way counts";
}

TEST_F(ResizePolicyTest, ReplacesTheLastWorkerWhateverTheLoadCosts) {
  ResizePolicy policy({.initial = 1});
  now_.n_waiting = 1;
  now_.load_seconds = 1e6;
  EXPECT_THAT(decide(policy).grow, ElementsAre(""));
}

TEST_F(ResizePolicyTest, StartsNothingWhereMpiCannot) {
  ResizePolicy policy({.initial = 2});
  now_.can_spawn = false;
  add(0);
  const Decision decision = decide(policy);
  EXPECT_THAT(decision.grow, IsEmpty());
  EXPECT_FALSE(decision.will_grow);
}

TEST_F(ResizePolicyTest, StartsNothingWithoutRoom) {
  ResizePolicy policy({.initial = 4});
  add(0);
  now_.n_free_here = 2;
  EXPECT_THAT(decide(policy).grow, SizeIs(2));
  now_.n_free_here = 0;
  const Decision decision = decide(policy);
  EXPECT_THAT(decision.grow, IsEmpty());
  EXPECT_FALSE(decision.will_grow) << "a run without workers would wait for ever";
  EXPECT_EQ(decision.why, "3 workers missing: no host has a free slot");
}

// ---- does it pay?

TEST_F(ResizePolicyTest, ReplacesOnlyWhileTheQueueKeepsTheOthersBusyForTwoLoads) {
  ResizePolicy policy({.initial = 2});
  add(0);
  now_.n_held = 5;
  now_.n_waiting = 14;  // 19 s of work against 2 x 10 s
  const Decision decision = decide(policy);
  EXPECT_THAT(decision.grow, IsEmpty());
  EXPECT_FALSE(decision.will_grow);
  EXPECT_EQ(decision.why, "1 worker missing: what waits is done before another one has loaded");
  now_.n_waiting = 15;
  EXPECT_THAT(decide(policy).grow, ElementsAre(""));
}

TEST_F(ResizePolicyTest, EachFurtherWorkerMustPayOnTopOfThoseThatCome) {
  ResizePolicy policy({.initial = 8});
  add(0);
  // 60 s of work: the 2nd pays (60 s), the 3rd (30 s) and the 4th (20 s); the 5th would not (15 s).
  now_.n_waiting = 60;
  EXPECT_THAT(decide(policy).grow, SizeIs(3));
}

TEST_F(ResizePolicyTest, WhatRunsAlreadyIsNoReasonForANewcomer) {
  ResizePolicy policy({.initial = 2});
  add(0);
  now_.n_waiting = 0;
  now_.n_held = 1000;
  EXPECT_THAT(decide(policy).grow, IsEmpty());
}

TEST_F(ResizePolicyTest, BeforeAnythingIsMeasuredWhatWaitsIsReasonEnough) {
  ResizePolicy policy({.initial = 2});
  add(0);
  now_.n_waiting = 1;
  now_.request_seconds.reset();
  EXPECT_THAT(decide(policy).grow, ElementsAre(""));
}

// ---- orders by hand

TEST_F(ResizePolicyTest, GrowsToANumberOrderedByHandThoughTheQueueWouldNotPay) {
  ResizePolicy policy({.initial = 1});
  add(0);
  now_.n_waiting = 1;
  const Decision decision = decide(policy, {SetWorkers{3}});
  EXPECT_THAT(decision.grow, ElementsAre("", ""));
  EXPECT_THAT(decision.verdicts,
              ElementsAre(Verdict{"id0", "--workers 3", true, "2 workers to start"}));
  EXPECT_EQ(policy.target(), 3);
}

TEST_F(ResizePolicyTest, AfterANumberWasReachedReplacementsMustPayAgain) {
  ResizePolicy policy({.initial = 1});
  add(0);
  now_.n_waiting = 1;
  (void)decide(policy, {SetWorkers{2}});
  add(1);
  EXPECT_THAT(decide(policy).grow, IsEmpty());
  lose(1);
  EXPECT_THAT(decide(policy).grow, IsEmpty());
}

TEST_F(ResizePolicyTest, ShrinksByThoseThatHoldLeastAndAmongThemTheNewest) {
  ResizePolicy policy({.initial = 5});
  add(0, "here", State::ready, 2);
  add(1, "here", State::ready, 7);
  add(2, "here", State::ready, 2);
  add(3, "here", State::ready, 9);
  add(4, "here", State::loading, 0);
  const Decision decision = decide(policy, {SetWorkers{2}});
  EXPECT_EQ(decision.drain, ids({4, 2, 0}));
  EXPECT_THAT(decision.grow, IsEmpty());
  EXPECT_EQ(decision.verdicts.at(0).reason, "3 workers to leave");
}

TEST_F(ResizePolicyTest, ANewcomerThatIsNoLongerWantedLeavesWhenItHasCome) {
  ResizePolicy policy({.initial = 1});
  add(0);
  now_.spawning = {"", ""};
  EXPECT_THAT(decide(policy, {SetWorkers{1}}).drain, IsEmpty());
  now_.spawning.clear();
  add(1, "here", State::joining), add(2, "here", State::joining);
  EXPECT_EQ(decide(policy).drain, ids({2, 1}));
}

TEST_F(ResizePolicyTest, LeavingWorkersAreNeitherToldAgainNorCounted) {
  ResizePolicy policy({.initial = 3});
  add(0), add(1), add(2, "here", State::leaving);
  EXPECT_THAT(decide(policy, {SetWorkers{2}}).drain, IsEmpty());
}

TEST_F(ResizePolicyTest, OrdersBeyondTheLimitsAreRefusedAndChangeNothing) {
  ResizePolicy policy({.initial = 2, .min_workers = 2, .max_workers = 4});
  add(0), add(1);
  const Decision decision =
      decide(policy, {SetWorkers{5}, SetWorkers{1}, AddHost{{"node7", 3}}, DrainHost{"node9"}});
  EXPECT_THAT(
      decision.verdicts,
      ElementsAre(
          Verdict{"id0", "--workers 5", false, "at most 4 workers (resize.max_workers)"},
          Verdict{"id1", "--workers 1", false, "at least 2 workers (resize.min_workers)"},
          Verdict{"id2", "--add node7:3", false,
                  "that would be 5 workers; at most 4 (resize.max_workers)"},
          Verdict{"id3", "--drain node9", false, "no worker is on node9; workers are on here"}));
  EXPECT_EQ(policy.target(), 2);
  EXPECT_THAT(decision.grow, IsEmpty());
  EXPECT_THAT(decision.drain, IsEmpty());
}

TEST_F(ResizePolicyTest, OrdersThatNeedASpawnAreRefusedWithTheReasonWhyThereIsNone) {
  ResizePolicy policy({.initial = 2});
  add(0), add(1);
  now_.can_spawn = false;
  now_.why_not = "srun worlds are fixed";
  const Decision decision =
      decide(policy, {SetWorkers{3}, AddHost{{"node7", 1}}, SetWorkers{1}, DrainHost{"here"}});
  EXPECT_EQ(decision.verdicts.at(0).reason, "this run cannot start workers: srun worlds are fixed");
  EXPECT_FALSE(decision.verdicts.at(0).is_accepted);
  EXPECT_FALSE(decision.verdicts.at(1).is_accepted);
  EXPECT_TRUE(decision.verdicts.at(2).is_accepted) << "shrinking needs no spawn";
  EXPECT_FALSE(decision.verdicts.at(3).is_accepted) << "nobody would be left";
}

TEST_F(ResizePolicyTest, AnOrderForMoreThanThereIsRoomForIsRefused) {
  ResizePolicy policy({.initial = 1});
  add(0);
  now_.n_free_here = 2;
  EXPECT_EQ(decide(policy, {SetWorkers{4}}).verdicts.at(0).reason,
            "there is room for 3 workers only");
}

// Oversubscribed: the launch has no slots that would say how many fit.
TEST_F(ResizePolicyTest, WithoutSlotsTheMostOnAHostIsKept) {
  ResizePolicy policy({.initial = 1, .max_on_host = 16});
  add(0);
  const Decision refused = decide(policy, {SetWorkers{1000}, AddHost{{"node7", 17}},
                                           AddHost{{"here", 16}}, AddHost{{"localhost", 16}}});
  const std::string most = "; at most 16 on one host, unless resize.max_workers is set";
  EXPECT_THAT(
      refused.verdicts,
      ElementsAre(
          Verdict{"id0", "--workers 1000", false, "there is room for 16 workers only" + most},
          Verdict{"id1", "--add node7:17", false, "that would be 17 workers on node7" + most},
          Verdict{"id2", "--add here:16", false, "that would be 17 workers on here" + most},
          Verdict{"id3", "--add localhost:16", false,
                  "that would be 17 workers on localhost" + most}));
  EXPECT_THAT(refused.grow, IsEmpty());
  EXPECT_TRUE(decide(policy, {SetWorkers{16}}).verdicts.at(0).is_accepted);
  const Decision twice = decide(policy, {AddHost{{"node7", 16}}, AddHost{{"node7", 1}}});
  EXPECT_TRUE(twice.verdicts.at(0).is_accepted);
  EXPECT_FALSE(twice.verdicts.at(1).is_accepted) << "those on order count";
  EXPECT_TRUE(decide(policy, {SetWorkers{32}}).verdicts.at(0).is_accepted) << "node7 has room";
}

TEST_F(ResizePolicyTest, TheNumberOfTheLaunchIsNeverTooManyForItsHost) {
  ResizePolicy policy({.initial = 20, .max_on_host = 16});
  for (i64 id = 0; id < 19; ++id)
    add(id);
  EXPECT_THAT(decide(policy).grow, ElementsAre(""));
}

TEST_F(ResizePolicyTest, WhereTheLaunchHasSlotsTheySayHowManyFit) {
  ResizePolicy policy({.initial = 1, .max_on_host = 16});
  add(0);
  now_.n_free_here = 30;
  EXPECT_TRUE(decide(policy, {SetWorkers{31}}).verdicts.at(0).is_accepted);
  now_.n_free_here = 1;
  EXPECT_EQ(decide(policy, {AddHost{{"here", 2}}}).verdicts.at(0).reason,
            "there is room for 2 workers on here only");
}

// ---- workers that are ordered on a host

TEST_F(ResizePolicyTest, WorkersOrderedOnAHostThatIsOutOfReachAreStartedNowhereElse) {
  ResizePolicy policy({.initial = 1});
  add(0);
  (void)decide(policy, {AddHost{{"node9", 1}}});
  std::vector<std::string> hosts;
  for (int i = 0; i < 700; ++i) {
    const Decision decision = decide(policy);
    hosts.insert(hosts.end(), decision.grow.begin(), decision.grow.end());
    EXPECT_THAT(decision.why, testing::HasSubstr("1 worker missing")) << i;
    if (!decision.grow.empty()) fail("node9", "node9 is out of reach");
  }
  EXPECT_THAT(hosts, testing::Each("node9"));
  EXPECT_THAT(hosts, testing::Not(IsEmpty()));
  EXPECT_THAT(decide(policy).why, testing::HasSubstr("node9 is out of reach"));
}

TEST_F(ResizePolicyTest, WhileAnOrderedHostIsOutOfReachOthersAreReplacedAsBefore) {
  ResizePolicy policy({.initial = 2});
  add(0), add(1);
  (void)decide(policy, {AddHost{{"node9", 1}}});
  fail("node9"), fail("node9"), fail("node9");
  lose(1);
  EXPECT_THAT(decide(policy).grow, ElementsAre(""));
  add(2);
  EXPECT_THAT(decide(policy).grow, IsEmpty());
  EXPECT_THAT(decide(policy, {SetWorkers{3}}).grow, SizeIs(1)) << "a number may stand anywhere";
}

TEST_F(ResizePolicyTest, AWorkerThatWasReadyOnItsHostMayBeReplacedElsewhere) {
  ResizePolicy policy({.initial = 1});
  add(0);
  (void)decide(policy, {AddHost{{"node7", 1}}});
  add(1, "node7", State::loading);
  (void)decide(policy);
  lose(1), fail("node7");
  EXPECT_THAT(decide(policy).grow, IsEmpty()) << "it has not been ready";
  add(2, "node7");
  (void)decide(policy);
  lose(2), fail("node7"), fail("node7"), fail("node7");
  EXPECT_THAT(decide(policy).grow, ElementsAre(""));
}

TEST_F(ResizePolicyTest, AddsWorkersOnAHostByHand) {
  ResizePolicy policy({.initial = 1});
  add(0);
  now_.n_waiting = 1;
  const Decision decision = decide(policy, {AddHost{{"node7", 2}}});
  EXPECT_THAT(decision.grow, ElementsAre("node7", "node7"));
  EXPECT_EQ(policy.target(), 3);

  now_.spawning.clear();
  add(1, "node7.cluster"), add(2, "node7.cluster");
  EXPECT_THAT(decide(policy).grow, IsEmpty()) << "its full name is the same host";
  now_.n_waiting = 1'000'000;
  lose(2);
  EXPECT_THAT(decide(policy).grow, ElementsAre("node7"));
}

TEST_F(ResizePolicyTest, WorkersOfAnOldOrderThatWereSentAwayAreNoPartOfANewOne) {
  ResizePolicy policy({.initial = 1});
  add(0);
  EXPECT_THAT(decide(policy, {AddHost{{"node7", 4}}}).grow, SizeIs(4));
  for (const i64 id : {1, 2, 3, 4})
    add(id, "node7");
  (void)decide(policy);
  EXPECT_EQ(decide(policy, {SetWorkers{2}}).drain, ids({4, 3, 2}));
  lose(2), lose(3), lose(4);
  EXPECT_THAT(decide(policy, {AddHost{{"node7", 2}}}).grow, ElementsAre("node7", "node7"));
  EXPECT_EQ(policy.target(), 4);
  EXPECT_EQ(policy.slots_of("node7"), 3);
  add(5, "node7"), add(6, "node7");
  EXPECT_THAT(decide(policy).grow, IsEmpty());
  lose(0);
  EXPECT_THAT(decide(policy).grow, ElementsAre("")) << "nobody is owed on node7";
}

TEST_F(ResizePolicyTest, OrdersOneAfterAnotherDoNotPassTheMostOnAHost) {
  ResizePolicy policy({.initial = 1, .max_on_host = 16, .max_loading = 16});
  add(0);
  for (const i64 first : {1, 101}) {
    EXPECT_THAT(decide(policy, {AddHost{{"node7", 16}}}).grow, SizeIs(16));
    EXPECT_EQ(policy.slots_of("node7"), 16);
    for (i64 id = first; id < first + 16; ++id)
      add(id, "node7");
    (void)decide(policy);
    EXPECT_THAT(decide(policy, {SetWorkers{1}}).drain, SizeIs(16));
    for (i64 id = first; id < first + 16; ++id)
      lose(id);
  }
}

TEST_F(ResizePolicyTest, AddsToWhatIsOnTheHostAlready) {
  ResizePolicy policy({.initial = 2});
  add(0), add(1);
  EXPECT_THAT(decide(policy, {AddHost{{"localhost", 2}}}).grow, ElementsAre("", ""));
}

TEST_F(ResizePolicyTest, DrainsAHostByHandAndKeepsItEmpty) {
  ResizePolicy policy({.initial = 3});
  add(0), add(1, "node7"), add(2, "node7", State::ready, 5);
  const Decision decision = decide(policy, {DrainHost{"node7"}});
  EXPECT_EQ(decision.drain, ids({1, 2}));
  EXPECT_THAT(decision.grow, IsEmpty()) << "they are not replaced";
  EXPECT_EQ(policy.target(), 1);
  EXPECT_EQ(decision.verdicts.at(0).reason, "2 workers to leave node7");

  lose(1), lose(2);
  now_.idle = {{{"node7", 2}}};
  EXPECT_THAT(settle(policy).grow, IsEmpty()) << "though it is listed as idle";
  EXPECT_THAT(decide(policy, {AddHost{{"node7", 1}}}).grow, ElementsAre("node7", "node7"));
}

TEST_F(ResizePolicyTest, ADrainedHostIsReplacedElsewhereAsFarAsTheLeastNumberNeeds) {
  ResizePolicy policy({.initial = 3, .min_workers = 2});
  add(0), add(1, "node7"), add(2, "node7");
  const Decision decision = decide(policy, {DrainHost{"node7"}});
  EXPECT_EQ(decision.drain, ids({2, 1}));
  EXPECT_THAT(decision.grow, ElementsAre(""));
}

TEST_F(ResizePolicyTest, TheOnlyHostIsNotDrained) {
  ResizePolicy policy({.initial = 2});
  add(0), add(1);
  const Decision decision = decide(policy, {DrainHost{"here"}});
  EXPECT_FALSE(decision.verdicts.at(0).is_accepted);
  EXPECT_THAT(decision.drain, IsEmpty());
}

// ---- hosts with several names

TEST_F(ResizePolicyTest, ANewcomerOnAHostAddedByItsAddressFulfilsTheOrder) {
  ResizePolicy policy({.initial = 1});
  add(0);
  EXPECT_THAT(decide(policy, {AddHost{{"10.0.0.7", 1}}}).grow, ElementsAre("10.0.0.7"));
  add(1, "node7");
  now_.real_names = {{"10.0.0.7", "node7"}};
  EXPECT_THAT(decide(policy).grow, IsEmpty());
  lose(1);
  EXPECT_THAT(decide(policy).grow, ElementsAre("10.0.0.7")) << "asked for as it was before";
  EXPECT_EQ(policy.slots_of("10.0.0.7"), 1);
}

TEST_F(ResizePolicyTest, AHostThatIsListedByTwoNamesHasTheSlotsOfBothAndNoMore) {
  ResizePolicy policy({.initial = 1});
  add(0);
  now_.idle = {{{"here", 1}, {"10.0.0.1", 1}}};
  EXPECT_THAT(settle(policy).grow, ElementsAre("10.0.0.1"));
  add(1, "here");
  now_.real_names = {{"10.0.0.1", "here"}};
  for (int i = 0; i < 5; ++i) {
    const Decision decision = decide(policy);
    EXPECT_THAT(decision.grow, IsEmpty());
    EXPECT_THAT(decision.drain, IsEmpty());
  }
}

TEST_F(ResizePolicyTest, AHostIsDrainedByAnyOfItsNames) {
  ResizePolicy policy({.initial = 2});
  add(0), add(1, "node7");
  now_.real_names = {{"10.0.0.7", "node7"}};
  EXPECT_EQ(decide(policy, {DrainHost{"10.0.0.7"}}).drain, ids({1}));
}

// ---- limits

TEST_F(ResizePolicyTest, TheMostWorkersIsKeptWithoutAnOrder) {
  ResizePolicy policy({.initial = 3, .max_workers = 2});
  add(0), add(1), add(2);
  EXPECT_EQ(decide(policy).drain, ids({2}));
}

TEST_F(ResizePolicyTest, WhoStillLeavesCountsToTheMost) {
  ResizePolicy policy({.initial = 2, .max_workers = 2});
  add(0), add(1, "here", State::leaving);
  EXPECT_THAT(decide(policy).grow, IsEmpty());
  lose(1);
  EXPECT_THAT(decide(policy).grow, SizeIs(1));
}

TEST_F(ResizePolicyTest, FewLoadAtATime) {
  ResizePolicy policy({.initial = 100, .max_loading = 4});
  add(0), add(1, "here", State::loading), add(2, "here", State::joining);
  now_.spawning = {""};
  const Decision decision = decide(policy);
  EXPECT_THAT(decision.grow, SizeIs(1));
  EXPECT_TRUE(decision.will_grow);
  EXPECT_EQ(decision.why, "1 of 96 workers missing started");
}

}  // namespace
}  // namespace sticky::malleability
