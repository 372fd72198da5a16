// Work that moves from worker to worker with its tokens: a worker's side of it, and a whole run in
// one process in which a worker leaves.
#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sticky/base/log.hpp"
#include "sticky/coordinator/coordinator_loop.hpp"
#include "tests/mpi/worker_life.hpp"
#include "tests/support/memory_run.hpp"
#include "tests/support/token_service.hpp"

namespace sticky::worker {
namespace {

using namespace std::chrono_literals;
using test::TokenService;
using Reason = protocol::HandBack::Reason;

MakeService tokens(const TokenService::Shape& shape) {
  return [shape](const Options&, WorkerId) { return std::make_unique<TokenService>(shape); };
}

std::vector<i32> first_tokens(i64 id, std::size_t n) {
  std::vector<i32> out;
  for (std::size_t place = 0; place < n; ++place)
    out.push_back(TokenService::token({id}, place));
  return out;
}

protocol::Invocation invocation(i64 id, i64 n_tokens, std::size_t n_made = 0) {
  protocol::Invocation one;
  one.id = {id};
  one.payload = std::to_string(n_tokens);
  if (n_made > 0) one.progress = {.arithmetic = "tokens", .answers = {first_tokens(id, n_made)}};
  return one;
}

constexpr i64 kEndless = 1'000'000'000;

TEST(MovedWork, LeavingAtOnceHandsBackTheTokensMadeSoFar) {
  WorkerLife worker(tokens({}));
  worker.welcome();
  (void)worker.next<protocol::StateReady>();
  worker.say(protocol::RunInvocations{
      {invocation(1, 2), invocation(4, kEndless), invocation(5, kEndless, 7)}});
  (void)worker.next<protocol::Results>();  // of 1: after two steps
  worker.say(protocol::Leave{true});

  const auto back = worker.next<protocol::HandBack>();
  EXPECT_EQ(back.reason, Reason::leaving);
  EXPECT_EQ(back.arithmetic, "tokens");
  ASSERT_EQ(back.invocations.size(), 2U);
  ASSERT_EQ(back.invocations[0].answers.size(), 1U);
  const std::size_t n_made = back.invocations[0].answers[0].size();
  EXPECT_GE(n_made, 2U);
  EXPECT_EQ(back.invocations[0], (protocol::Unfinished{{4}, {first_tokens(4, n_made)}}));
  EXPECT_EQ(back.invocations[1], (protocol::Unfinished{{5}, {first_tokens(5, n_made + 7)}}));
  (void)worker.next<protocol::Bye>();
  worker.say(protocol::Farewell{false});
}

TEST(MovedWork, OnlyWhatHasNotStartedIsTakenBackAndTheWorkerStays) {
  WorkerLife worker(tokens({.n_running = 2}));
  worker.welcome();
  (void)worker.next<protocol::StateReady>();
  worker.say(protocol::RunInvocations{
      {invocation(1, 1), invocation(4, kEndless), invocation(5, kEndless), invocation(6, 1, 3)}});
  (void)worker.next<protocol::Results>();  // of 1: now 4 runs, and soon 5
  worker.say(protocol::TakeBack{{{4}, {6}, {99}, {1}}});

  EXPECT_EQ(worker.next<protocol::HandBack>(),
            (protocol::HandBack{Reason::taken_back, "tokens", {{{6}, {first_tokens(6, 3)}}}}));
  worker.say(protocol::TakeBack{{{6}}});
  EXPECT_EQ(worker.next<protocol::HandBack>(),
            (protocol::HandBack{Reason::taken_back, "tokens", {}}));
  worker.say(protocol::Leave{true});
  EXPECT_EQ(worker.next<protocol::HandBack>().invocations.size(), 2U);
  (void)worker.next<protocol::Bye>();
  worker.say(protocol::Farewell{false});
}

TEST(MovedWork, WhatIsTooMuchForOneMessageComesInSeveral) {
  constexpr std::size_t kMany = protocol::kBatchBytes / sizeof(i32) / 2 + 1;
  WorkerLife worker(tokens({}));
  worker.welcome();
  (void)worker.next<protocol::StateReady>();
  worker.say(
      protocol::RunInvocations{{invocation(1, kEndless, kMany), invocation(2, kEndless, kMany),
                                invocation(3, kEndless, kMany)}});
  worker.say(protocol::Leave{true});

  const auto first = worker.next<protocol::HandBack>(), second = worker.next<protocol::HandBack>();
  ASSERT_EQ(first.invocations.size(), 2U);
  ASSERT_EQ(second.invocations.size(), 1U);
  EXPECT_EQ(second.reason, Reason::leaving);
  EXPECT_EQ(second.arithmetic, "tokens");
  EXPECT_EQ(second.invocations[0].id, InvocationId{3});
  (void)worker.next<protocol::Bye>();
  worker.say(protocol::Farewell{false});
}

TEST(MovedWork, AWorkerWithoutAStateHasNothingToGive) {
  WorkerLife worker(tokens({}));
  (void)worker.next<protocol::Hello>();
  worker.say(protocol::TakeBack{{{1}}});

  EXPECT_EQ(worker.next<protocol::HandBack>(), (protocol::HandBack{Reason::taken_back, "", {}}));
  worker.say(protocol::Leave{true});
  (void)worker.next<protocol::Bye>();
  worker.say(protocol::Farewell{false});
}

// Steady, but from the second look on after it is told to, some seconds ahead: what waits for a
// time need not wait.
class HurriedClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override {
    return steady_.now() + (is_ahead ? Duration(6s) : Duration{});
  }
  std::atomic<bool> is_ahead = false;

 private:
  SteadyClock steady_;
};

TEST(MovedWork, AWorkerThatLeavesInMidRunLosesNothingAndOthersGoOnFromItsTokens) {
  log::set_level(log::Level::error);
  constexpr i64 kRequests = 3000;
  auto links = comm::make_in_process_links(3);
  const auto processes = comm::make_local_processes();
  HurriedClock clock;
  std::atomic<i64> n_brought = 0, n_made = 0, n_made_by_leaver = 0;
  // The first asks to leave once it has made some tokens; it never ends a text, so all that it gets
  // must go to the others.
  std::atomic<int> n_asked = 0;
  const auto is_first_asked = [&] {
    if (n_made_by_leaver < 100) return false;
    if (++n_asked > 1) clock.is_ahead = true;
    return true;
  };
  std::vector<std::thread> workers;
  for (std::size_t k = 0; k < 3; ++k) {
    workers.emplace_back([&, k] {
      const bool leaves = k == 0;
      (void)run_worker({.transport = *links.workers[k],
                        .processes = *processes,
                        .clock = clock,
                        .make_service = tokens({.slots = 48,
                                                .n_running = 32,
                                                .ends = !leaves,
                                                .n_brought = &n_brought,
                                                .n_made = leaves ? &n_made_by_leaver : &n_made}),
                        .self = comm::this_process(),
                        .device = "",
                        .is_asked_to_leave =
                            leaves ? std::function<bool()>(is_first_asked) : [] { return false; },
                        .abandon = nullptr});
    });
  }
  test::MemoryResults results;
  test::MemoryFolder folder;
  const SteadyClock steady;
  coordinator::Options options;
  options.grace_seconds = 0.0;
  const auto outcome =
      coordinator::run_coordinator(options,
                                   {.input = std::make_unique<test::CountedInput>(kRequests, 1),
                                    .done = nullptr,
                                    .worker_options_json = to_json(Options{}).dump(),
                                    .state_name = "tokens"},
                                   {.transport = *links.coordinator,
                                    .processes = *processes,
                                    .results = results,
                                    .folder = folder,
                                    .clock = steady});
  for (std::thread& worker : workers)
    worker.join();
  log::set_level(log::Level::info);

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.last.losses.empty());
  ASSERT_EQ(results.results.size(), static_cast<std::size_t>(kRequests));
  i64 n_tokens = 0;
  for (i64 id = 0; id < kRequests; ++id) {
    const auto tokens = first_tokens(id, static_cast<std::size_t>(id % 10));
    const std::string record = fmt::format("{}: {}", id, fmt::join(tokens, " "));
    EXPECT_EQ(results.results[record], 1) << record;
    n_tokens += id % 10;
  }
  // Nothing that the first made was made again.
  EXPECT_GE(n_made_by_leaver, 100);
  EXPECT_EQ(n_brought, n_made_by_leaver);
  EXPECT_EQ(n_made + n_made_by_leaver, n_tokens);
}

}  // namespace
}  // namespace sticky::worker
