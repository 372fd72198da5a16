// The service of a real model: tiny-llama-smollm2 (tests/data/README.md).
#include "sticky/worker/model_service.hpp"

#include <algorithm>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sticky/base/json.hpp"

namespace sticky::worker {
namespace {

using protocol::Progress;

// Every way of choosing and ending, and different beginnings, so that none finds another's pages.
const std::vector<std::string> kRequests{
    R"({"prompt": "Once upon a time", "temperature": 0, "max_tokens": 24})",
    R"({"prompt": "The river was", "temperature": 0, "max_tokens": 24, "logprobs": 3})",
    R"({"prompt": "My name", "temperature": 1.0, "top_p": 0.9, "seed": 5, "max_tokens": 24})",
    R"({"prompt": "In 1987", "temperature": 0.8, "max_tokens": 24, "frequency_penalty": 0.7})",
    R"({"prompt": "def f(x):", "temperature": 1.2, "max_tokens": 24, "presence_penalty": 0.5,
        "repetition_penalty": 1.3, "logprobs": 0})",
    R"({"prompt": "Zürich, ", "temperature": 1.5, "max_tokens": 24, "stop": ["e", "a"],
        "min_tokens": 9})",
    R"({"prompt": "\u20ac", "temperature": 2.0, "max_tokens": 24, "min_p": 0.01, "logprobs": 5})"};

protocol::Invocation invocation(i64 id) {
  protocol::Invocation one;
  one.id = {id};
  one.custom_id = fmt::format("r{}", id);
  one.file = "requests.jsonl";
  one.line = id + 1;
  one.payload = kRequests[static_cast<std::size_t>(id)];
  one.payload.back() = ',';
  one.payload += R"("return_token_ids": true})";
  return one;
}

constexpr i64 kAll = 7;

class ModelServiceTest : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Service> service(i64 worker, i64 max_sequences = 64) const {
    Options options;
    options.state.model = STICKY_TEST_DATA "/models/tiny-llama-smollm2";
    options.state.dtype = "f32";
    options.engine.max_sequences = max_sequences;
    auto out = make_model_service(options, {worker}, clock_);
    out->load();
    return out;
  }
  ManualClock clock_;
};

// A record without what may differ between runs: who answered it, when, and in which attempt.
std::string lasting_part(const protocol::Result& result) {
  Json record = Json::parse(result.record);
  record.erase("sticky");
  record.find("response")->find("body")->erase("created");
  return record.dump();
}

using Records = std::map<i64, std::string>;

void finish(Service& service, Records& records) {
  while (service.n_held() > 0) {
    for (const auto& result : service.step()) {
      EXPECT_FALSE(result.is_error) << result.record;
      records[result.id.value] = lasting_part(result);
    }
  }
}

TEST_F(ModelServiceTest, ARequestCutAtAnyStepHasTheUndisturbedRecordFromAnotherService) {
  const auto undisturbed = service(1);
  for (i64 id = 0; id < kAll; ++id)
    undisturbed->submit(invocation(id));
  Records want;
  finish(*undisturbed, want);
  ASSERT_EQ(std::ssize(want), kAll);

  std::size_t n_moved = 0;
  for (int n_steps = 0; n_steps < 24; n_steps += n_steps < 4 ? 1 : 5) {
    SCOPED_TRACE(testing::Message() << "cut after " << n_steps << " steps");
    Records got;
    const auto first = service(1), second = service(2);
    for (i64 id = 0; id < kAll; ++id)
      first->submit(invocation(id));
    for (int k = 0; k < n_steps; ++k) {
      for (const auto& result : first->step())
        got[result.id.value] = lasting_part(result);
    }
    for (protocol::Unfinished& one : first->hand_back()) {
      protocol::Invocation again = invocation(one.id.value);
      again.attempt = 2;
      n_moved += one.token_ids.size();
      again.progress = Progress{first->arithmetic(), std::move(one.token_ids)};
      second->submit(std::move(again));
    }
    EXPECT_EQ(first->n_held(), 0);
    finish(*second, got);
    EXPECT_EQ(got, want);
  }
  EXPECT_GT(n_moved, 200U);
}

TEST_F(ModelServiceTest, TokensOfAnotherArithmeticAreMadeAnew) {
  const auto one = service(1), other = service(2);
  Records want, got;
  one->submit(invocation(0));
  finish(*one, want);
  protocol::Invocation foreign = invocation(0);
  foreign.progress = Progress{"another", {5, 6, 7}};  // not what this model says
  other->submit(std::move(foreign));
  finish(*other, got);

  EXPECT_EQ(got, want);
}

TEST_F(ModelServiceTest, GivesBackWhatHasNotStartedAndKeepsWhatHasOrIsFinished) {
  const auto one = service(1, 2);
  for (i64 id = 0; id < 4; ++id)
    one->submit(invocation(id));
  protocol::Invocation refused = invocation(4);
  refused.payload = "no JSON";
  one->submit(std::move(refused));
  protocol::Invocation empty = invocation(5);
  empty.payload = R"({"prompt": "a", "max_tokens": 0})";
  one->submit(std::move(empty));

  EXPECT_EQ(one->step().size(), 2U);  // the refused and the empty one
  const std::vector<InvocationId> asked{{0}, {3}, {4}, {5}, {17}};
  const auto back = one->take_back(asked);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0], (protocol::Unfinished{{3}, {}}));
  EXPECT_TRUE(one->take_back(asked).empty());
  EXPECT_EQ(one->n_held(), 3);
  Records records;
  finish(*one, records);
  EXPECT_EQ(records.size(), 3U);
}

TEST_F(ModelServiceTest, HandingBackLeavesWhatIsFinishedForTheNextStep) {
  const auto one = service(1);
  one->submit(invocation(0));
  protocol::Invocation empty = invocation(1);
  empty.payload = R"({"prompt": "a", "max_tokens": 0})";
  one->submit(std::move(empty));

  ASSERT_EQ(one->hand_back().size(), 1U);
  EXPECT_EQ(one->n_held(), 1);
  const auto results = one->step();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].id, InvocationId{1});
  EXPECT_EQ(one->n_held(), 0);
}

}  // namespace
}  // namespace sticky::worker
