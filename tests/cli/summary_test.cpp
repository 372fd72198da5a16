#include "summary.hpp"

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "json_fields.hpp"

namespace sticky::cli {
namespace {

using coordinator::Ending;
using testing::HasSubstr;
using testing::Not;

coordinator::WorkerStatus worker(double load_seconds) {
  coordinator::WorkerStatus status;
  status.arithmetic = "cpu-f32";
  status.load_seconds = load_seconds;
  return status;
}

// 100 requests: 40 done before (5 of them errors), 50 answered now, 6 failed now, 4 left.
coordinator::RunOutcome outcome() {
  coordinator::RunOutcome out;
  out.ending = Ending::drained;
  out.reason = "asked to stop";
  out.exit_code = 4;
  out.last.counts = {.n_read = 100,
                     .n_done_before = 40,
                     .n_results_before = 35,
                     .n_errors_before = 5,
                     .n_results = 50,
                     .n_errors = 6,
                     .n_waiting = 4};
  out.last.has_input_ended = true;
  out.last.prompt_tokens = 4000;
  out.last.completion_tokens = 1000;
  out.last.workers = {worker(1.5), worker(2.5)};
  coordinator::Loss loss;
  loss.worker = WorkerId{1};
  loss.cause = "died";
  loss.reason = "its process has ended";
  loss.at_seconds = 61.0;
  loss.n_returned = 7;
  out.last.losses = {loss};
  return out;
}

Json summary() {
  config::Loaded loaded;
  loaded.settings = {{"run.attempts", Json(3), "default"}};
  RunFacts facts;
  facts.run_dir = "runs/x";
  facts.ended = 20;
  facts.phases = {.prepare = 1.0, .run = 10.0, .finish = 0.5};
  facts.n_ranks = 3;
  return summary_json(outcome(), facts, loaded);
}

TEST(Summary, CountsTheWholeFolder) {
  const Json json = summary();
  const Json* counts = json.find("counts");

  ASSERT_NE(counts, nullptr);
  EXPECT_EQ(integer_at(*counts, "requests"), 100);
  EXPECT_EQ(integer_at(*counts, "results"), 85);
  EXPECT_EQ(integer_at(*counts, "errors"), 11);
  EXPECT_EQ(integer_at(*counts, "unanswered"), 4);
}

TEST(Summary, TellsRatesOfThisRunOnly) {
  const Json json = summary();
  const Json* rates = json.find("rates");

  ASSERT_NE(rates, nullptr);
  EXPECT_DOUBLE_EQ(number_at(*rates, "requests_per_second"), 5.6);
  EXPECT_DOUBLE_EQ(number_at(*rates, "prompt_tokens_per_second"), 400.0);
  EXPECT_DOUBLE_EQ(number_at(*rates, "completion_tokens_per_second"), 100.0);
}

TEST(Summary, HoldsWhatScriptsNeed) {
  const Json json = summary();

  EXPECT_EQ(integer_at(json, "exit_code"), 4);
  EXPECT_EQ(text_at(json, "reason"), "asked to stop");
  EXPECT_EQ(text_at(json, "started"), "1970-01-01T00:00:00Z");
  EXPECT_EQ(array_at(json, "losses").size(), 1);
  EXPECT_EQ(array_at(json, "arithmetic").size(), 1);
  EXPECT_DOUBLE_EQ(number_at(*json.find("phases"), "load"), 2.5);
  EXPECT_EQ(json.find("config")->dump(), R"({"run.attempts":{"value":3,"origin":"default"}})");
}

TEST(SummaryText, TellsPeopleHowItWentAndHowToGoOn) {
  EXPECT_EQ(
      summary_text(summary(), "runs/x"),
      "ended after 00:00:11: asked to stop\n"
      "  requests 100: 85 answered, 11 failed, 4 not yet answered (40 of them by earlier runs)\n"
      "  rate     336 req/min, in 400 out 100 tok/s (4,000 tokens in, 1,000 out)\n"
      "  workers  2 (cpu-f32), model loaded in 2.5 s\n"
      "  lost     worker 1 after 00:01:01: its process has ended (7 requests went back)\n"
      "  results  runs/x/results.jsonl\n"
      "  errors   runs/x/errors.jsonl\n"
      "  summary  runs/x/summary.json (exit code 4)\n"
      "  go on    stickyinvoc resume runs/x\n");
}

TEST(SummaryText, SaysThatThereAreRequestsThatItDoesNotCount) {
  coordinator::RunOutcome cut = outcome();
  cut.last.has_input_ended = false;
  EXPECT_THAT(summary_text(summary_json(cut, {}, {}), "runs/x"),
              HasSubstr("  requests 100 and those not read yet: 85 answered, 11 failed, 4 not"));
}

TEST(SummaryText, NamesNoFileThatCouldNotBeWritten) {
  const std::string text = summary_text(summary(), "runs/x", "no space left");
  EXPECT_THAT(text, HasSubstr("  summary  could not be written (exit code 4): no space left\n"));
  EXPECT_THAT(text, Not(HasSubstr("summary.json")));
}

TEST(Summary, OfManyWorkersAndLossesListsTheLastAndCountsTheOthers) {
  auto many = outcome();
  coordinator::Loss newcomer;
  newcomer.cause = "spawn_failed";
  newcomer.reason = "no slots";
  newcomer.n_returned = 1;
  many.last.losses.insert(many.last.losses.end(), 3000, newcomer);
  coordinator::WorkerStatus gone = worker(1.0);
  gone.state = "left";
  for (i64 id = 3; id < 3003; ++id) {
    gone.worker = WorkerId{id};
    many.last.workers.push_back(gone);
  }
  const Json json = summary_json(many, {}, {});
  EXPECT_EQ(array_at(json, "workers").size(), 1002U) << "those that are there, and 1000";
  EXPECT_EQ(integer_at(json, "workers_left_out"), 2000);
  EXPECT_EQ(array_at(json, "losses").size(), 1000U);
  EXPECT_EQ(integer_at(json, "losses_left_out"), 2001);
  EXPECT_TRUE(array_at(json, "losses").back().find("worker")->is_null());

  const std::string text = summary_text(json, "d");
  EXPECT_THAT(text, HasSubstr("  workers  3002 (cpu-f32)"));
  EXPECT_THAT(text,
              HasSubstr("  lost     2981 before these\n"
                        "  lost     a newcomer after 00:00:00: no slots (1 request went back)\n"));
  EXPECT_LT(text.size(), 4000U);
}

coordinator::RunOutcome refused() {
  coordinator::RunOutcome out;
  out.exit_code = 2;
  out.reason = "input.strict: line 3 is wrong";
  out.last.counts.n_read = 3;
  out.last.has_input_ended = true;
  return out;
}

TEST(Summary, OfARefusedRunCountsItsRequests) {
  const Json json = failed_summary(refused(), {}, {});
  const Json* counts = json.find("counts");

  ASSERT_NE(counts, nullptr);
  EXPECT_EQ(text_at(json, "ending"), "failed");
  EXPECT_EQ(integer_at(*counts, "requests"), 3);
  EXPECT_EQ(integer_at(*counts, "results"), 0);
  EXPECT_EQ(integer_at(*counts, "unanswered"), 3);
  EXPECT_TRUE(boolean_at(json, "input_ended"));
}

TEST(Summary, TellsWhetherTheInputWasReadToItsEnd) {
  auto cut = outcome();
  cut.last.has_input_ended = false;
  EXPECT_FALSE(boolean_at(summary_json(cut, {}, {}), "input_ended"));
  cut.last.has_input_ended = true;
  EXPECT_TRUE(boolean_at(summary_json(cut, {}, {}), "input_ended"));
}

TEST(SummaryText, OfARunThatCouldNotBeginHasNoRatesAndNoFilesThatAreNotThere) {
  const std::string text = summary_text(failed_summary(refused(), {}, {}), "d");

  EXPECT_THAT(text, HasSubstr("input.strict: line 3 is wrong"));
  EXPECT_THAT(text, HasSubstr("3 not yet answered"));
  EXPECT_THAT(text, HasSubstr("exit code 2"));
  EXPECT_THAT(text, Not(HasSubstr("rate")));
  EXPECT_THAT(text, Not(HasSubstr("results.jsonl")));
}

}  // namespace
}  // namespace sticky::cli
