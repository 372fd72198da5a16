#include "start_watch.hpp"

#include <gmock/gmock.h>

#include <gtest/gtest.h>

namespace sticky::comm {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr StartJudge::Limits kLimits{.whole = 300s, .gone = 2s, .unseen = 20s};

TEST(StartJudge, WaitsWhileAllRanksLive) {
  StartJudge judge(3, kLimits);
  for (Duration at = 0s; at < 300s; at += 10s)
    EXPECT_FALSE(judge.judge(at, {.ranks = {11, 12}, .n_children = 3})) << at.count();
}

TEST(StartJudge, GivesUpSoonAfterASiblingThatWasThereIsGone) {
  StartJudge judge(3, kLimits);
  EXPECT_FALSE(judge.judge(0s, {.ranks = {11, 12}, .n_children = 3}));
  EXPECT_FALSE(judge.judge(1s, {.ranks = {12}, .n_children = 2}));
  EXPECT_FALSE(judge.judge(2s, {.ranks = {12}, .n_children = 2}));
  EXPECT_THAT(judge.judge(3s, {.ranks = {12}, .n_children = 2}).value_or(""),
              HasSubstr("another rank of this node ended"));
}

TEST(StartJudge, ANewRankInPlaceOfOneThatIsGoneDoesNotHideIt) {
  StartJudge judge(0, kLimits);
  EXPECT_FALSE(judge.judge(0s, {.ranks = {11}, .n_children = -1}));
  EXPECT_FALSE(judge.judge(1s, {.ranks = {12}, .n_children = -1}));
  EXPECT_TRUE(judge.judge(3s, {.ranks = {12}, .n_children = -1}));
}

TEST(StartJudge, MissesARankThatDiedBeforeItWasEverSeen) {
  StartJudge judge(3, kLimits);
  EXPECT_FALSE(judge.judge(0s, {.ranks = {12}, .n_children = 2}));
  EXPECT_FALSE(judge.judge(19s, {.ranks = {12}, .n_children = 2}));
  EXPECT_THAT(judge.judge(20s, {.ranks = {12}, .n_children = 2}).value_or(""),
              HasSubstr("only 2 of this node's 3 ranks"));
}

TEST(StartJudge, RanksThatStartOneAfterAnotherAreWaitedFor) {
  StartJudge judge(4, kLimits);
  EXPECT_FALSE(judge.judge(0s, {.ranks = {}, .n_children = 1}));
  EXPECT_FALSE(judge.judge(19s, {.ranks = {12}, .n_children = 2}));
  EXPECT_FALSE(judge.judge(38s, {.ranks = {12, 13}, .n_children = 3}));
  EXPECT_FALSE(judge.judge(57s, {.ranks = {12, 13, 14}, .n_children = 4}));
}

TEST(StartJudge, ASpawnedRankDoesNotMindTheEndOfOtherWorkers) {
  StartJudge judge(1, kLimits);
  EXPECT_FALSE(judge.judge(0s, {.ranks = {11, 12}, .n_children = 3}));
  EXPECT_FALSE(judge.judge(1s, {.ranks = {12}, .n_children = 2}));
  EXPECT_FALSE(judge.judge(30s, {.ranks = {}, .n_children = 1}));
}

TEST(StartJudge, AnUnknownNumberOfChildrenSaysNothing) {
  StartJudge judge(3, kLimits);
  EXPECT_FALSE(judge.judge(0s, {.ranks = {}, .n_children = -1}));
  EXPECT_FALSE(judge.judge(299s, {.ranks = {}, .n_children = -1}));
}

TEST(StartJudge, ARankOfAnotherNodeThatNeverComesEndsTheWaitByTime) {
  StartJudge judge(1, kLimits);
  EXPECT_FALSE(judge.judge(299s, {.ranks = {}, .n_children = 1}));
  EXPECT_THAT(judge.judge(300s, {.ranks = {}, .n_children = 1}).value_or(""),
              HasSubstr("within 300 s"));
}

TEST(StartWatch, IsSilentAndEndsAtOnceWhenMpiHasStarted) {
  bool has_given_up = false;
  {
    const StartWatch watch([&](const std::string&) { has_given_up = true; });
  }
  EXPECT_FALSE(has_given_up);
}

}  // namespace
}  // namespace sticky::comm
