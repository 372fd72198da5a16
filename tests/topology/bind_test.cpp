#include "sticky/topology/bind.hpp"

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "sticky/topology/cpu_list.hpp"

namespace sticky::topology {
namespace {

using testing::ElementsAre;

TEST(ShareOf, TwoWorkersAndTheCoordinatorOnTwoCpusGiveEachWorkerOne) {
  const CpuList allowed{0, 1};

  EXPECT_THAT(share_of(allowed, {.local_rank = 1, .n_local = 3}).cpus, ElementsAre(0));
  EXPECT_THAT(share_of(allowed, {.local_rank = 2, .n_local = 3}).cpus, ElementsAre(1));
}

TEST(ShareOf, ManyCpusLeaveTheFirstToTheCoordinator) {
  const CpuList allowed{0, 1, 2, 3, 8};

  EXPECT_THAT(share_of(allowed, {.local_rank = 1, .n_local = 3}).cpus, ElementsAre(1, 2));
  EXPECT_THAT(share_of(allowed, {.local_rank = 2, .n_local = 3}).cpus, ElementsAre(3, 8));
}

TEST(ShareOf, ANodeWithoutTheCoordinatorIsSharedWhole) {
  const CpuList allowed{0, 1, 2, 3};
  const LocalPlace place{.local_rank = 0, .n_local = 2, .has_coordinator = false};

  EXPECT_THAT(share_of(allowed, place).cpus, ElementsAre(0, 1));
}

TEST(ShareOf, UnevenPartsLeaveNoCpuOutAndNoneTwice) {
  CpuList allowed, given;
  for (i64 cpu = 0; cpu < 11; ++cpu)
    allowed.push_back(cpu);

  for (i64 rank = 1; rank <= 4; ++rank) {
    const CpuList part = share_of(allowed, {.local_rank = rank, .n_local = 5}).cpus;
    given.insert(given.end(), part.begin(), part.end());
  }

  EXPECT_THAT(given, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST(ShareOf, MoreWorkersThanCpusUseAllOfThemInCommon) {
  const auto [cpus, is_common] = share_of({0, 1}, {.local_rank = 3, .n_local = 4});

  EXPECT_THAT(cpus, ElementsAre(0, 1));
  EXPECT_TRUE(is_common);
}

TEST(ShareOf, TheCoordinatorMayRunAnywhere) {
  const LocalPlace place{.local_rank = 0, .n_local = 3, .is_coordinator = true};

  EXPECT_THAT(share_of({0, 1, 2}, place).cpus, ElementsAre(0, 1, 2));
}

TEST(TextOf, RunsAreShortened) {
  EXPECT_EQ(text_of({0, 1, 2, 5, 8, 9}), "0-2,5,8-9");
  EXPECT_EQ(text_of({}), "none");
}

}  // namespace
}  // namespace sticky::topology
