#include "sticky/coordinator/progress.hpp"

#include <gtest/gtest.h>

namespace sticky::coordinator {
namespace {

Json::Array list(const Json& json, const char* name) {
  return json.find(name)->as_array();
}

TEST(Progress, ListsWhoIsThereAndTheLastThatAreGone) {
  Progress progress;
  for (i64 id = 0; id < 100; ++id) {
    WorkerStatus& worker = progress.workers.emplace_back();
    worker.worker = WorkerId{id};
    worker.state = id % 2 == 0 ? "ready" : id % 4 == 1 ? "left" : "lost";
  }
  const Json json = to_json(progress);
  const Json::Array workers = list(json, "workers");
  EXPECT_EQ(workers.size(), 70U);
  EXPECT_EQ(json.find("workers_left_out")->as_integer(), 30);
  EXPECT_EQ(workers.front().find("worker")->as_integer(), 0);
  EXPECT_EQ(workers[1].find("worker")->as_integer(), 2) << "1 is gone for long";
  EXPECT_EQ(workers.back().find("worker")->as_integer(), 99);
}

TEST(Progress, TheLastThatAreGoneAreTheLastInTime) {
  Progress progress;
  for (i64 id = 0; id < 22; ++id) {
    WorkerStatus& worker = progress.workers.emplace_back();
    worker.worker = WorkerId{id};
    worker.state = id == 0 ? "lost" : "left";
    worker.gone_seconds = id == 0 ? 100.0 : 50.0 - static_cast<double>(id);
  }
  const Json json = to_json(progress);
  const Json::Array workers = list(json, "workers");
  EXPECT_EQ(workers.size(), 20U);
  EXPECT_EQ(json.find("workers_left_out")->as_integer(), 2);
  EXPECT_EQ(workers.front().find("worker")->as_integer(), 0) << "it went last of all";
  EXPECT_EQ(workers.back().find("worker")->as_integer(), 19) << "20 and 21 went first";
}

TEST(Progress, ListsTheLastLossesAndCountsThoseBefore) {
  Progress progress;
  EXPECT_EQ(to_json(progress).find("losses_left_out")->as_integer(), 0);
  for (i64 id = 0; id < 50; ++id)
    progress.losses.emplace_back().worker = WorkerId{id};
  const Json json = to_json(progress);
  EXPECT_EQ(list(json, "losses").size(), 20U);
  EXPECT_EQ(list(json, "losses").front().find("worker")->as_integer(), 30);
  EXPECT_EQ(json.find("losses_left_out")->as_integer(), 30);
}

TEST(Loss, OfANewcomerHasNoWorker) {
  Loss loss;
  EXPECT_EQ(name_of(loss), "a newcomer");
  EXPECT_TRUE(to_json(loss).find("worker")->is_null());
  loss.worker = WorkerId{3};
  EXPECT_EQ(name_of(loss), "worker 3");
  EXPECT_EQ(to_json(loss).find("worker")->as_integer(), 3);
}

}  // namespace
}  // namespace sticky::coordinator
