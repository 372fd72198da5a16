#include "local_place.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace sticky::cli {
namespace {

Environment environment(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(LocalPlace, OfAProcessThatNobodyLaunchedIsAlone) {
  const auto place = place_in(0, environment({}));

  EXPECT_EQ(place.local_rank, 0);
  EXPECT_EQ(place.n_local, 1);
  EXPECT_TRUE(place.has_coordinator);
  EXPECT_TRUE(place.is_coordinator);
  EXPECT_FALSE(place.is_binding_chosen);
}

TEST(LocalPlace, IsReadFromOpenMpi) {
  const auto place = place_in(5, environment({{"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                              {"SLURM_LOCALID", "0"}}));

  EXPECT_EQ(place.local_rank, 1);
  EXPECT_EQ(place.n_local, 4);
  EXPECT_FALSE(place.has_coordinator);
  EXPECT_FALSE(place.is_coordinator);
}

TEST(LocalPlace, IsReadFromSlurmWhereOpenMpiSaysNothing) {
  const auto place = place_in(6, environment({{"SLURM_LOCALID", "2"},
                                              {"SLURM_NODEID", "1"},
                                              {"SLURM_STEP_TASKS_PER_NODE", "4,3(x2)"}}));

  EXPECT_EQ(place.local_rank, 2);
  EXPECT_EQ(place.n_local, 3);
  EXPECT_FALSE(place.has_coordinator);
}

TEST(LocalPlace, KeepsABindingThatTheUserAskedFor) {
  const auto policy = [](const char* value) {
    return place_in(1, environment({{"OMPI_MCA_hwloc_base_binding_policy", value}}))
        .is_binding_chosen;
  };
  EXPECT_TRUE(policy("core"));
  EXPECT_FALSE(policy("none"));
}

TEST(TasksOnNode, AreCountedThroughRepetitions) {
  EXPECT_EQ(tasks_on_node("4", 0), 4);
  EXPECT_EQ(tasks_on_node("4(x2),3", 1), 4);
  EXPECT_EQ(tasks_on_node("4(x2),3", 2), 3);
  EXPECT_EQ(tasks_on_node("4(x2),3", 3), 1);
  EXPECT_EQ(tasks_on_node("", 0), 1);
  EXPECT_EQ(tasks_on_node("x", 0), 0);
}

}  // namespace
}  // namespace sticky::cli
