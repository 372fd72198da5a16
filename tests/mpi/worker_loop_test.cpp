// A worker's life, seen from the coordinator's end of an in-process link; and whole runs in one
// process.
#include "sticky/worker/worker_loop.hpp"

#include <chrono>
#include <functional>
#include <gmock/gmock.h>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "sticky/base/log.hpp"
#include "sticky/coordinator/coordinator_loop.hpp"
#include "tests/mpi/worker_life.hpp"
#include "tests/support/echo_service.hpp"
#include "tests/support/memory_run.hpp"

namespace sticky::worker {
namespace {

using namespace std::chrono_literals;
using protocol::Message;
using testing::ElementsAre;
using Reason = protocol::HandBack::Reason;

class BrokenService final : public worker::Service {
 public:
  void load() override { fail<FormatError>("model.gguf: truncated"); }
  [[nodiscard]] i64 slots() const override { return 0; }
  [[nodiscard]] std::string arithmetic() const override { return {}; }
  [[nodiscard]] std::string description() const override { return {}; }
  void submit(protocol::Invocation) override {}
  [[nodiscard]] std::vector<protocol::Result> step() override { return {}; }
  [[nodiscard]] std::vector<protocol::Unfinished> hand_back() override { return {}; }
  [[nodiscard]] std::vector<protocol::Unfinished> take_back(
      std::span<const InvocationId>) override {
    return {};
  }
  [[nodiscard]] i64 n_steps() const override { return 0; }
  [[nodiscard]] i64 n_held() const override { return 0; }
};

MakeService echo(const test::EchoService::Shape& shape) {
  return [shape](const Options&, WorkerId) { return std::make_unique<test::EchoService>(shape); };
}

protocol::RunInvocations work(std::initializer_list<i64> ids) {
  protocol::RunInvocations message;
  for (const i64 id : ids) {
    protocol::Invocation& one = message.invocations.emplace_back();
    one.id = {id};
    one.payload = "p";
  }
  return message;
}

std::vector<std::string> records(const protocol::Results& message) {
  std::vector<std::string> out;
  for (const protocol::Result& result : message.results)
    out.push_back(result.record);
  return out;
}

TEST(WorkerLoop, SaysHelloLoadsAndAnswersAStepInOneMessage) {
  WorkerLife worker(echo({.slots = 7, .n_per_step = 2}));
  worker.welcome();

  EXPECT_EQ(worker.next<protocol::StateReady>().slots, 7);
  worker.say(work({1, 2, 3}));
  EXPECT_THAT(records(worker.next<protocol::Results>()), ElementsAre("1 p", "2 p"));
  EXPECT_THAT(records(worker.next<protocol::Results>()), ElementsAre("3 p"));

  worker.say(protocol::Leave{true});
  (void)worker.next<protocol::Bye>();
  worker.say(protocol::Farewell{true});
  EXPECT_TRUE(worker.await_end().may_finalize);
}

TEST(WorkerLoop, AStateThatCannotBeLoadedIsReportedWithItsReason) {
  WorkerLife worker([](const Options&, WorkerId) { return std::make_unique<BrokenService>(); });
  worker.welcome();

  EXPECT_EQ(worker.next<protocol::StateFailed>().reason, "model.gguf: truncated");
  const WorkerEnd end = worker.await_end();
  EXPECT_TRUE(end.has_failed);
  EXPECT_FALSE(end.may_finalize);
}

TEST(WorkerLoop, AWelcomeThatMakesNoSenseIsAFailureAndNoCrash) {
  WorkerLife worker(echo({}));
  (void)worker.next<protocol::Hello>();
  worker.say(protocol::Welcome{{1}, "no JSON"});

  (void)worker.next<protocol::StateFailed>();
  EXPECT_TRUE(worker.await_end().has_failed);
}

TEST(WorkerLoop, LeavingAtOnceHandsBackWhatIsHeld) {
  WorkerLife worker(echo({.n_per_step = 0}));  // takes and never answers
  worker.welcome();
  (void)worker.next<protocol::StateReady>();
  worker.say(work({4, 5}));
  worker.say(protocol::Leave{true});

  EXPECT_EQ(worker.next<protocol::HandBack>(),
            (protocol::HandBack{Reason::leaving, "echo", {{{4}, {}}, {{5}, {}}}}));
  EXPECT_EQ(worker.next<protocol::Bye>().reason, "the coordinator said so");
  worker.say(protocol::Farewell{false});
  EXPECT_FALSE(worker.await_end().may_finalize);
}

TEST(WorkerLoop, LeavingAfterWorkAnswersFirstAndTakesNothingNew) {
  WorkerLife worker(echo({.n_per_step = 1}));
  worker.welcome();
  (void)worker.next<protocol::StateReady>();
  worker.say(protocol::Leave{false});
  worker.say(work({6}));  // was on its way

  const Message first = worker.next();
  if (const auto* back = std::get_if<protocol::HandBack>(&first)) {
    EXPECT_EQ(*back, (protocol::HandBack{Reason::refused, "", {{{6}, {}}}}));
    (void)worker.next<protocol::Bye>();
  } else {
    (void)std::get<protocol::Bye>(first);  // it had gone before the work came: Bye gives it back
  }
  worker.say(protocol::Farewell{false});
}

TEST(WorkerLoop, AnswersWhatItHoldsBeforeItLeaves) {
  WorkerLife worker(echo({.n_per_step = 1}));
  worker.welcome();
  (void)worker.next<protocol::StateReady>();
  worker.say(work({1, 2}));
  worker.say(protocol::Leave{false});

  EXPECT_THAT(records(worker.next<protocol::Results>()), ElementsAre("1 p"));
  EXPECT_THAT(records(worker.next<protocol::Results>()), ElementsAre("2 p"));
  (void)worker.next<protocol::Bye>();
  worker.say(protocol::Farewell{false});
}

TEST(WorkerLoop, ALostLinkEndsIt) {
  WorkerLife worker(echo({}));
  worker.welcome();
  (void)worker.next<protocol::StateReady>();
  worker.cut_link();

  EXPECT_THAT(worker.await_end().reason, testing::HasSubstr("the link to the coordinator is lost"));
}

TEST(WholeRun, ThreeWorkersInOneProcessAnswerEverythingOnce) {
  log::set_level(log::Level::error);
  auto links = comm::make_in_process_links(3);
  const auto processes = comm::make_local_processes();
  const SteadyClock clock;
  std::vector<std::thread> workers;
  for (const auto& link : links.workers) {
    workers.emplace_back([&] {
      (void)run_worker({.transport = *link,
                        .processes = *processes,
                        .clock = clock,
                        .make_service = echo({.slots = 16, .n_per_step = 5}),
                        .self = comm::this_process(),
                        .device = "",
                        .is_asked_to_leave = [] { return false; },
                        .abandon = nullptr});
    });
  }
  test::MemoryResults results;
  test::MemoryFolder folder;

  const auto outcome =
      coordinator::run_coordinator({},
                                   {.input = std::make_unique<test::CountedInput>(2000, 10),
                                    .done = nullptr,
                                    .worker_options_json = to_json(Options{}).dump(),
                                    .state_name = "echo"},
                                   {.transport = *links.coordinator,
                                    .processes = *processes,
                                    .results = results,
                                    .folder = folder,
                                    .clock = clock});
  for (std::thread& worker : workers)
    worker.join();
  log::set_level(log::Level::info);

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.may_finalize);
  ASSERT_EQ(results.results.size(), 2000U);
  for (const auto& [record, n] : results.results)
    EXPECT_EQ(n, 1) << record;
  EXPECT_THAT(folder.file("status.json"), testing::HasSubstr("\"phase\": \"ended\""));
  EXPECT_THAT(folder.file("timeline.json"), testing::HasSubstr("\"serving\""));
}

}  // namespace
}  // namespace sticky::worker
