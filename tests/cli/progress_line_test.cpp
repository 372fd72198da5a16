#include "progress_line.hpp"

#include <gtest/gtest.h>

namespace sticky::cli {
namespace {

// The example of the contract.
ProgressView example() {
  return {.phase = "running",
          .seconds = 750.0,
          .n_done = 48210,
          .n_failed = 12,
          .n_total = 150000,
          .is_total_known = true,
          .n_new = 48210,
          .n_ready = 20,
          .n_joining = 4};
}

TEST(ProgressLine, HasTheFormOfTheContract) {
  EXPECT_EQ(progress_line(example(),
                          {.requests = 30.2, .prompt_tokens = 5100.0, .completion_tokens = 2000.0}),
            "[00:12:30] 48,210/150,000 (32.1 %)  1,812 req/min  in 5.1k out 2.0k tok/s  failed 12  "
            "workers 20 (+4 joining)  ETA 00:56");
}

TEST(ProgressLine, MarksAnEstimatedTotalAndADrain) {
  ProgressView view = example();
  view.is_total_known = false;
  view.n_joining = 0;
  view.phase = "draining";

  EXPECT_EQ(progress_line(view, {}),
            "[00:12:30] 48,210/~150,000 (32.1 %)  0 req/min  in 0 out 0 tok/s  failed 12  workers "
            "20  draining");
}

TEST(ProgressLine, OfARunWithoutRequestsDividesByNothing) {
  EXPECT_EQ(progress_line({.phase = "running", .is_total_known = true}, {}),
            "[00:00:00] 0/0 (0.0 %)  0 req/min  in 0 out 0 tok/s  failed 0  workers 0");
}

TEST(ProgressView, IsTakenFromAStatusFile) {
  const Json status = Json::parse(R"({
    "phase": "running", "seconds": 12.5, "input_ended": true,
    "input_bytes_read": 10, "input_bytes_total": 10,
    "counts": {"read": 100, "done_before": 20, "results": 30, "errors": 5},
    "prompt_tokens": 700, "completion_tokens": 80,
    "workers": [{"state": "ready"}, {"state": "loading"}, {"state": "lost"}, {"state": "joining"}]})");

  const auto view = view_of(status);

  ASSERT_TRUE(view);
  EXPECT_EQ(view->n_done, 55);
  EXPECT_EQ(view->n_new, 35);
  EXPECT_EQ(view->n_failed, 5);
  EXPECT_EQ(view->n_total, 100);
  EXPECT_TRUE(view->is_total_known);
  EXPECT_EQ(view->prompt_tokens, 700);
  EXPECT_EQ(view->completion_tokens, 80);
  EXPECT_EQ(view->n_ready, 1);
  EXPECT_EQ(view->n_joining, 2);
}

TEST(ProgressView, EstimatesTheTotalFromTheBytesRead) {
  const auto view = view_of(Json::parse(
      R"({"input_bytes_read": 250, "input_bytes_total": 1000, "counts": {"read": 10}})"));

  ASSERT_TRUE(view);
  EXPECT_EQ(view->n_total, 40);
  EXPECT_FALSE(view->is_total_known);
}

TEST(ProgressView, OfSomethingElseIsNothing) {
  EXPECT_FALSE(view_of(Json::parse("{}")));
  EXPECT_FALSE(view_of(Json::parse("[1]")));
  EXPECT_FALSE(view_of(Json::parse(R"({"counts": 3})")));
}

TEST(RateMeter, LooksAtTheLastMinuteOnly) {
  RateMeter meter;
  ProgressView view;
  (void)meter.update(view);
  for (int second = 1; second <= 200; ++second) {
    view.seconds = second;
    view.n_new += second <= 100 ? 1 : 10;
    view.prompt_tokens += 3;
    const Rates rates = meter.update(view);
    if (second == 100) {
      EXPECT_DOUBLE_EQ(rates.requests, 1.0);
    }
    if (second == 200) {
      EXPECT_DOUBLE_EQ(rates.requests, 10.0);
      EXPECT_DOUBLE_EQ(rates.prompt_tokens, 3.0);
    }
  }
}

TEST(RateMeter, HasNoRateAtItsFirstLook) {
  RateMeter meter;
  EXPECT_EQ(meter.update(example()).requests, 0.0);
  EXPECT_EQ(meter.update(example()).requests, 0.0);
}

TEST(Numbers, AreWrittenForPeople) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(with_commas(-123456), "-123,456");
  EXPECT_EQ(short_number(0.4), "0");
  EXPECT_EQ(short_number(999.4), "999");
  EXPECT_EQ(short_number(999.6), "1.0k");
  EXPECT_EQ(short_number(5123.0), "5.1k");
  EXPECT_EQ(short_number(999960.0), "1.0M");
  EXPECT_EQ(clock_time(3661.9), "01:01:01");
  EXPECT_EQ(clock_time(360000.0), "100:00:00");
}

}  // namespace
}  // namespace sticky::cli
