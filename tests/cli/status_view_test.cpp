#include "status_view.hpp"

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "terminal.hpp"

namespace sticky::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json worker(int id, const std::string& state, int n_results, int n_held = 0) {
  return Json::object({{"worker", id},
                       {"state", state},
                       {"host", "node7"},
                       {"pid", 4000 + id},
                       {"description", "tiny"},
                       {"held", n_held},
                       {"results", n_results},
                       {"errors", 0}});
}

Json status(double seconds, Json::Array workers, Json::Array losses = {}) {
  Json json = Json::object({{"phase", "running"},
                            {"seconds", seconds},
                            {"counts", Json::object({{"read", 100}, {"results", 10}})},
                            {"input_ended", true}});
  json.set("workers", std::move(workers));
  json.set("losses", std::move(losses));
  return json;
}

TEST(WatchedRun, TellsJoinsAndLossesAsTheyHappen) {
  WatchedRun run;
  EXPECT_THAT(run.look(status(1, {worker(0, "ready", 0)})), IsEmpty()) << "it was there before";
  EXPECT_THAT(run.look(status(2, {worker(0, "ready", 0), worker(1, "loading", 0)})),
              ElementsAre("[00:00:02] worker 1 joins: node7:4001"));
  EXPECT_THAT(run.look(status(5, {worker(0, "ready", 0), worker(1, "ready", 0)})),
              ElementsAre("[00:00:05] worker 1 is ready"));
  const Json loss = Json::object({{"worker", 0},
                                  {"cause", "died"},
                                  {"reason", "its process has ended"},
                                  {"at_seconds", 6.2},
                                  {"returned", 3}});
  const Json last = status(7, {worker(0, "lost", 0), worker(1, "leaving", 0)}, {loss});
  EXPECT_THAT(run.look(last),
              ElementsAre("[00:00:07] worker 1 is told to leave",
                          "[00:00:06] worker 0 is lost: died: its process has ended (3 requests "
                          "went back)"));
  EXPECT_THAT(run.look(last), IsEmpty()) << "told once";
}

TEST(WatchedRun, TellsLossesOnceThoughTheListIsCut) {
  WatchedRun run;
  const auto loss = [](Json worker) {
    return Json::object(
        {{"worker", std::move(worker)}, {"cause", "spawn_failed"}, {"reason", "why"}});
  };
  (void)run.look(status(1, {worker(0, "ready", 0)}));
  EXPECT_THAT(run.look(status(2, {}, {loss(1), loss(2)})), testing::SizeIs(2));
  Json cut = status(3, {}, {loss(3), loss(Json())});
  cut.set("losses_left_out", 2);
  EXPECT_THAT(run.look(cut),
              ElementsAre(HasSubstr("worker 3 is lost"), HasSubstr("a newcomer is lost")));
  EXPECT_THAT(run.look(cut), IsEmpty());
  EXPECT_THAT(loss_lines(cut),
              ElementsAre("lost: 2 before these", HasSubstr("lost: worker 3 after"),
                          HasSubstr("lost: a newcomer after")));
}

TEST(WorkerLines, CountThoseThatAreNotListed) {
  Json json = status(1, {worker(0, "ready", 0)});
  EXPECT_THAT(worker_lines(json), testing::SizeIs(2));
  json.set("workers_left_out", 1);
  EXPECT_EQ(worker_lines(json).back(), "        and 1 more worker that is gone");
}

TEST(WatchedRun, DrawsWhoIsThereWithTheirRates) {
  WatchedRun run;
  (void)run.look(status(10, {worker(0, "ready", 0), worker(1, "lost", 5)}));
  (void)run.look(status(20, {worker(0, "ready", 50, 8), worker(1, "lost", 5)}));
  const auto lines = run.picture(20);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], HasSubstr("10/100 (10.0 %)"));
  EXPECT_EQ(lines[1], "worker  state     host:pid    answered  failed   held  req/min  what");
  EXPECT_EQ(lines[2], "     0  ready     node7:4000        50       0      8      300  tiny");
}

TEST(WatchedRun, FitsAnyTerminal) {
  WatchedRun run;
  Json::Array workers;
  for (int id = 0; id < 100; ++id)
    workers.push_back(worker(id, "ready", 0));
  (void)run.look(status(1, workers));
  const auto lines = run.picture(10);
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines.back(), "        … and 93 more workers");
}

TEST(WatchedRun, AHostileStatusCannotMoveTheCursor) {
  WatchedRun run;
  Json evil = worker(0, "ready", 0);
  evil.set("host", "\033[2J\nx");
  evil.set("description", "\033]0;title\007");
  (void)run.look(status(1, {evil}));
  for (const std::string& line : run.picture(20))
    EXPECT_EQ(line.find_first_of("\033\n\007"), std::string::npos);
  EXPECT_THAT(run.look(Json::array()), IsEmpty());
  EXPECT_THAT(run.look(Json("x")), IsEmpty());
}

TEST(WishLine, TellsWhatIsWantedWhileSomethingIsBeingDone) {
  Json json = status(1, {});
  EXPECT_EQ(wish_line(json), "");
  json.set("resize", Json::object({{"target", 4}, {"joining", 2}, {"doing", "2 of 2 started"}}));
  EXPECT_EQ(wish_line(json), "4 wanted, 2 on their way; 2 of 2 started");
  EXPECT_EQ(view_of(json)->n_joining, 2);
  json.set("resize", Json::object({{"target", 4}, {"joining", 0}, {"doing", ""}}));
  EXPECT_EQ(wish_line(json), "");
}

TEST(CutToWidth, CountsCharactersAndSplitsNone) {
  EXPECT_EQ(cut_to_width("abc", 2), "ab");
  EXPECT_EQ(cut_to_width("abc", 3), "abc");
  EXPECT_EQ(cut_to_width("äöü", 2), "äö");
  EXPECT_EQ(cut_to_width("", 5), "");
}

}  // namespace
}  // namespace sticky::cli
