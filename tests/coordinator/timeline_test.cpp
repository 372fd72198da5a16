#include "sticky/coordinator/timeline.hpp"

#include <gmock/gmock.h>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sticky::coordinator {
namespace {

using testing::ElementsAre;

// On host a: 1 serves from 3 s (after 2 s of loading) to the end at 20 s; 2 is lost at 9 s; 3, on
// host b, came at 10 s and is still starting. One newcomer never came.
Progress progress() {
  Progress out;
  out.seconds = 20.0;
  WorkerStatus one;
  one.worker = WorkerId{1};
  one.host = "a";
  one.load_seconds = 2.0;
  one.ready_seconds = 3.0;
  one.n_results = 70;
  WorkerStatus two = one;
  two.worker = WorkerId{2};
  two.ready_seconds = 4.0;
  two.gone_seconds = 9.0;
  WorkerStatus three;
  three.worker = WorkerId{3};
  three.host = "b";
  three.joined_seconds = 10.0;
  out.workers = {one, two, three};
  out.losses = {{WorkerId{2}, "frozen", "no heartbeat", 9.0, 5},
                {WorkerId{}, "spawn_failed", "no slots", 11.5, 0}};
  return out;
}

// Those of one worker and kind as "name from+duration" in seconds.
std::vector<std::string> events(const Json& timeline, i64 worker, const std::string& kind) {
  std::vector<std::string> out;
  for (const Json& event : timeline.find("traceEvents")->as_array()) {
    const Json* thread = event.find("tid");
    if (event.find("ph")->as_string() != kind) continue;
    if (thread != nullptr && thread->as_integer() != worker) continue;
    std::string text = event.find("name")->as_string();
    if (const Json* at = event.find("ts")) text += fmt::format(" {}", at->as_integer() / 1000);
    if (const Json* length = event.find("dur"))
      text += fmt::format("+{}", length->as_integer() / 1000);
    out.push_back(text);
  }
  return out;
}

TEST(Timeline, TellsTheLifeOfEachWorkerInMilliseconds) {
  const Json timeline = timeline_json(progress());

  EXPECT_THAT(events(timeline, 1, "X"),
              ElementsAre("starting 0+1000", "loading 1000+2000", "serving 3000+17000"));
  EXPECT_THAT(events(timeline, 2, "X"),
              ElementsAre("starting 0+2000", "loading 2000+2000", "serving 4000+5000"));
  EXPECT_THAT(events(timeline, 3, "X"), ElementsAre("starting 10000+10000"));
}

TEST(Timeline, TellsHowTheyEnded) {
  const Json timeline = timeline_json(progress());

  EXPECT_THAT(events(timeline, 1, "i"), ElementsAre());
  EXPECT_THAT(events(timeline, 2, "i"), ElementsAre("lost (frozen) 9000"));
  EXPECT_THAT(events(timeline, 0, "i"), ElementsAre("lost (spawn_failed) 11500"));

  Progress left = progress();
  left.losses.clear();
  EXPECT_THAT(events(timeline_json(left), 2, "i"), ElementsAre("left 9000"));
}

TEST(Timeline, CountsTheReadyOnes) {
  std::vector<i64> counts;
  const Json timeline = timeline_json(progress());
  for (const Json& event : timeline.find("traceEvents")->as_array()) {
    if (event.find("ph")->as_string() == "C")
      counts.push_back(event.find("args")->find("workers")->as_integer());
  }

  EXPECT_THAT(counts, ElementsAre(1, 2, 1));
}

TEST(Timeline, PutsTheWorkersOfAHostTogether) {
  std::vector<i64> processes;
  const Json timeline = timeline_json(progress());
  for (const Json& event : timeline.find("traceEvents")->as_array()) {
    if (event.find("name")->as_string() == "thread_name")
      processes.push_back(event.find("pid")->as_integer());
  }

  EXPECT_THAT(processes, ElementsAre(1, 1, 2));
}

}  // namespace
}  // namespace sticky::coordinator
