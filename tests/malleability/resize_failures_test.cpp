#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "resize_situation.hpp"

namespace sticky::malleability {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// ---- failures

TEST_F(ResizePolicyTest, ALoadThatFailsIsTriedThreeTimesWithRisingWaits) {
  ResizePolicy policy({.initial = 1});
  std::vector<TimePoint> starts;
  bool will_grow = true;
  for (int i = 0; i < 300; ++i) {
    const TimePoint at = now_.now;
    const Decision decision = decide(policy);
    will_grow = decision.will_grow;
    if (decision.grow.empty()) continue;
    starts.push_back(at);
    fail("", "no such model");
  }
  // The first at once; it fails within a second, and the next waits 1 s from then, and then 2 s.
  EXPECT_THAT(starts, ElementsAre(TimePoint{0s}, TimePoint{2s}, TimePoint{5s}));
  EXPECT_FALSE(will_grow) << "a run without workers must end now";
  EXPECT_THAT(decide(policy).why, HasSubstr("no such model"));
}

TEST_F(ResizePolicyTest, ManyHostsDoNotMakeAPoisonousLoadEndless) {
  ResizePolicy policy({.initial = 1});
  std::vector<Host> hosts;
  for (int i = 0; i < 100; ++i)
    hosts.push_back({"node" + std::to_string(i), 1});
  now_.idle = hosts;
  i64 n_started = 0;
  for (int i = 0; i < 300; ++i) {
    const Decision decision = decide(policy);
    for (const std::string& host : decision.grow)
      fail(host);
    n_started += static_cast<i64>(decision.grow.size());
  }
  EXPECT_LT(n_started, ResizePolicy::kFailuresInARow + Limits{}.max_loading);
  EXPECT_THAT(decide(policy).why, HasSubstr("newcomers in a row came to nothing"));
}

TEST_F(ResizePolicyTest, ABadHostIsGivenUpAndTheOthersAreNot) {
  ResizePolicy policy({.initial = 1});
  add(0);
  now_.idle = {{{"bad", 1}, {"good", 2}}};
  i64 id = 1, n_bad = 0;
  for (int i = 0; i < 100; ++i) {
    const Decision decision = decide(policy);
    for (const std::string& host : decision.grow) {
      if (host == "good") {
        add(id++, host);
      } else {
        ++n_bad;
        fail(host);
      }
    }
  }
  EXPECT_EQ(n_bad, ResizePolicy::kFailuresOnHost);
  EXPECT_THAT(now_.workers, SizeIs(3));
}

TEST_F(ResizePolicyTest, ABadHostIsTriedAgainAfterARestWhileOthersShowThatALoadCanSucceed) {
  ResizePolicy policy({.initial = 2});
  add(0);
  std::vector<TimePoint> starts;
  for (int i = 0; i < 700; ++i) {
    const TimePoint at = now_.now;
    if (decide(policy).grow.empty()) continue;
    starts.push_back(at);
    fail("");
  }
  // Each fails within a second. The third failure is seen at 6 s, and the next one at 307 s.
  EXPECT_THAT(starts, ElementsAre(TimePoint{0s}, TimePoint{2s}, TimePoint{5s}, TimePoint{306s},
                                  TimePoint{607s}));
}

TEST_F(ResizePolicyTest, KnowsTheSlotsOfTheHostsItGrowsOnto) {
  ResizePolicy policy({.initial = 1});
  add(0);
  (void)decide(policy, {AddHost{{"node7.cluster", 2}}});
  EXPECT_EQ(policy.slots_of("node7"), 2);
  EXPECT_EQ(policy.slots_of(""), 0);
}

TEST_F(ResizePolicyTest, AnOrderByHandStartsAfresh) {
  ResizePolicy policy({.initial = 1});
  add(0);
  for (int i = 0; i < 6; ++i)
    fail("");
  lose(0);
  EXPECT_THAT(decide(policy).grow, IsEmpty());
  EXPECT_THAT(decide(policy, {SetWorkers{2}}).grow, SizeIs(2));
}

TEST_F(ResizePolicyTest, ALostWorkerThatWasReadyIsNoFailure) {
  ResizePolicy policy({.initial = 1});
  for (i64 id = 0; id < 50; ++id) {
    EXPECT_THAT(decide(policy).grow, SizeIs(1)) << id;
    add(id);
    EXPECT_THAT(decide(policy).grow, IsEmpty()) << id;
    lose(id);
  }
}

// ---- a list of idle hosts

TEST_F(ResizePolicyTest, GrowsOntoAHostThatIsListedForAWhile) {
  ResizePolicy policy({.initial = 1});
  add(0);
  now_.idle = {{{"node7", 2}}};
  EXPECT_THAT(decide(policy).grow, IsEmpty()) << "it may be listed by mistake";
  const Decision decision = settle(policy);
  EXPECT_THAT(decision.grow, ElementsAre("node7", "node7"));
  EXPECT_EQ(policy.target(), 1);
}

TEST_F(ResizePolicyTest, AListedHostMustPay) {
  ResizePolicy policy({.initial = 1});
  add(0);
  now_.idle = {{{"node7", 2}}};
  now_.n_waiting = 19;
  EXPECT_THAT(settle(policy).grow, IsEmpty());
  now_.n_waiting = 20;
  EXPECT_THAT(decide(policy).grow, ElementsAre("node7"));
}

TEST_F(ResizePolicyTest, WorkersLeaveAHostThatIsNoLongerListed) {
  ResizePolicy policy({.initial = 1});
  add(0), add(1, "node7"), add(2, "node7");
  now_.idle = {{{"node7", 2}}};
  (void)settle(policy);
  now_.idle = std::vector<Host>{};
  EXPECT_THAT(decide(policy).drain, IsEmpty()) << "it may come back at once";
  EXPECT_EQ(settle(policy).drain, ids({2, 1}));
}

TEST_F(ResizePolicyTest, UnknownIsNotNone) {
  ResizePolicy policy({.initial = 1});
  add(0), add(1, "node7");
  now_.idle = {{{"node7", 1}}};
  (void)settle(policy);
  now_.idle.reset();
  for (int i = 0; i < 100; ++i)
    EXPECT_THAT(decide(policy).drain, IsEmpty());
  lose(1);
  EXPECT_THAT(decide(policy).grow, ElementsAre("node7")) << "what was known still holds";
}

TEST_F(ResizePolicyTest, AListThatFlickersMovesNobody) {
  ResizePolicy policy({.initial = 1});
  add(0), add(1, "node7");
  now_.idle = {{{"node7", 1}}};
  (void)settle(policy);
  for (int i = 0; i < 100; ++i) {
    now_.idle = i % 3 == 0 ? std::vector<Host>{{"node7", 1}, {"node8", 1}} : std::vector<Host>{};
    const Decision decision = decide(policy);
    EXPECT_THAT(decision.grow, IsEmpty()) << i;
    EXPECT_THAT(decision.drain, IsEmpty()) << i;
  }
}

TEST_F(ResizePolicyTest, AHostThatOffersFewerSlotsKeepsThoseThatHoldMost) {
  ResizePolicy policy({.initial = 1});
  add(0), add(1, "node7", State::ready, 9), add(2, "node7", State::ready, 3);
  now_.idle = {{{"node7", 2}}};
  (void)settle(policy);
  now_.idle = {{{"node7", 1}}};
  EXPECT_EQ(settle(policy).drain, ids({2}));
}

TEST_F(ResizePolicyTest, ByItselfTheListLeavesTheLeastNumber) {
  ResizePolicy policy({.initial = 2, .min_workers = 2});
  now_.can_spawn = false;
  add(0, "node7"), add(1, "node7"), add(2, "node7");
  now_.idle = {{{"node7", 3}}};
  (void)settle(policy);
  now_.idle = std::vector<Host>{};
  (void)settle(policy);
  lose(2);
  EXPECT_THAT(settle(policy).drain, IsEmpty());
}

TEST_F(ResizePolicyTest, ANumberByHandIsNotExceededBecauseOfTheList) {
  ResizePolicy policy({.initial = 1});
  add(0);
  now_.idle = {{{"node7", 4}}};
  (void)decide(policy, {SetWorkers{2}});
  const Decision decision = settle(policy);
  EXPECT_THAT(decision.grow, SizeIs(1));
  EXPECT_THAT(decision.grow, ElementsAre("node7")) << "and a listed host is the place to go";
}

TEST_F(ResizePolicyTest, TheListedSlotsOfTheCoordinatorsHostIncludeTheLaunch) {
  ResizePolicy policy({.initial = 2});
  add(0), add(1);
  now_.idle = {{{"localhost", 3}}};
  EXPECT_THAT(settle(policy).grow, ElementsAre(""));
}

}  // namespace
}  // namespace sticky::malleability
