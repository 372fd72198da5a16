// The service of a real model: tiny-llama-smollm2 (tests/data/README.md).
#include "sticky/worker/model_service.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

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
    R"({"prompt": "\u20ac", "temperature": 2.0, "max_tokens": 24, "min_p": 0.01, "logprobs": 5})",
    R"({"prompt": "There once was a", "n": 4, "max_tokens": 24, "stop": ["e"], "min_tokens": 2})",
    R"({"prompt": "It is", "n": 2, "seed": 3, "max_tokens": 20, "echo": true, "logprobs": 1})",
    R"({"prompt": "The sum of", "n": 3, "temperature": 0, "max_tokens": 9})",
    R"({"prompt": "A prompt of which every token is scored", "max_tokens": 0, "prompt_logprobs": 2,
        "n": 2})",
    R"({"prompt": "The sky is", "choice": [" blue", " green as grass", " full of stars"],
        "logprobs": 1})"};

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

const i64 kAll = std::ssize(kRequests);

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
      for (const auto& tokens : one.answers)
        n_moved += tokens.size();
      again.progress = Progress{first->arithmetic(), std::move(one.answers)};
      second->submit(std::move(again));
    }
    EXPECT_EQ(first->n_held(), 0);
    finish(*second, got);
    EXPECT_EQ(got, want);
  }
  EXPECT_GT(n_moved, 400U);
}

// Tokenising may take long where many come at once: a worker that does so does not hang.
TEST_F(ModelServiceTest, TakingARequestIsASignOfProgress) {
  const auto one = service(1);
  const i64 before = one->n_steps();
  one->submit(invocation(0));
  EXPECT_EQ(one->n_steps(), before + 1);
  (void)one->step();
  EXPECT_EQ(one->n_steps(), before + 2);
}

TEST_F(ModelServiceTest, AChoiceDependsNeitherOnTheirNumberNorOnItsNeighbours) {
  const auto texts = [&](i64 n, const std::string& more, i64 max_sequences) {
    const auto one = service(1, max_sequences);
    protocol::Invocation asked = invocation(0);
    asked.payload = fmt::format(
        R"({{"prompt": "Once upon a time there was a small house", "max_tokens": 12, "n": {}{}}})",
        n, more);
    one->submit(std::move(asked));
    Records records;
    finish(*one, records);
    std::vector<std::string> out;
    const Json record = Json::parse(records.at(0));
    const Json& body = *record.find("response")->find("body");
    for (const Json& choice : body.find("choices")->as_array()) {
      EXPECT_EQ(choice.find("index")->as_integer(), std::ssize(out));
      out.push_back(choice.find("text")->as_string());
    }
    EXPECT_EQ(body.find("usage")->find("completion_tokens")->as_integer(), 12 * n);
    return out;
  };
  for (const std::string more : {"", R"(, "seed": 5)", R"(, "top_p": 0.9)"}) {
    SCOPED_TRACE(more);
    const auto many = texts(6, more + R"(, "ignore_eos": true)", 64);
    ASSERT_EQ(many.size(), 6U);
    EXPECT_EQ(std::set<std::string>(many.begin(), many.end()).size(), 6U);
    for (const i64 n : {1, 2, 5}) {
      const auto few = texts(n, more + R"(, "ignore_eos": true)", 2);
      EXPECT_TRUE(std::ranges::equal(few, std::span(many).first(few.size())));
    }
  }
  const auto greedy = texts(3, R"(, "temperature": 0, "ignore_eos": true)", 64);
  ASSERT_EQ(greedy.size(), 3U);
  EXPECT_EQ(greedy, std::vector<std::string>(3, greedy[0]));
}

// What a choice scores must be what the same text scores as a prompt.
TEST_F(ModelServiceTest, AChoiceScoresTheSumOfItsTokensLogprobsWhateverElseRuns) {
  const std::vector<std::string> choices{" blue", " green as the grass of home", " a", " \u20ac!"};
  const std::string prompt = "In a year of much rain and little sun the sky over the sea is";
  const auto one = service(1);
  const auto submit = [&](i64 id, const Json& line) {
    protocol::Invocation asked = invocation(0);
    asked.id = {id};
    asked.payload = line.dump();
    one->submit(std::move(asked));
  };
  const Json choice = Json::object({{"prompt", prompt},
                                    {"choice", Json::Array(choices.begin(), choices.end())},
                                    {"max_tokens", 1}});
  submit(0, choice);
  for (i64 i = 0; i < std::ssize(choices); ++i)
    submit(1 + i, Json::object({{"prompt", prompt + choices[static_cast<std::size_t>(i)]},
                                {"max_tokens", 0},
                                {"echo", true},
                                {"logprobs", 0}}));
  Records records;
  finish(*one, records);
  submit(9, choice);  // now pages of the prompt are in the cache
  finish(*one, records);

  const auto first_choice = [&](i64 id) {
    const Json record = Json::parse(records.at(id));
    return record.find("response")->find("body")->find("choices")->as_array()[0];
  };
  const Json answer = first_choice(0);
  EXPECT_EQ(answer, first_choice(9));
  const auto& scores = answer.find("choice_scores")->as_array();
  ASSERT_EQ(scores.size(), choices.size());
  const i64 n_prompt = std::ssize(prompt);
  double sum = 0.0;
  std::vector<double> logprobs;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    double expected = 0.0;
    const Json whole = first_choice(1 + static_cast<i64>(i));
    const auto& of_tokens = whole.find("logprobs")->find("token_logprobs")->as_array();
    const auto& offsets = whole.find("logprobs")->find("text_offset")->as_array();
    for (std::size_t t = 0; t < of_tokens.size(); ++t)
      if (offsets[t].as_integer() >= n_prompt) expected += of_tokens[t].as_double();
    EXPECT_EQ(scores[i].find("choice")->as_string(), choices[i]);
    logprobs.push_back(scores[i].find("logprob")->as_double());
    EXPECT_EQ(logprobs[i], expected) << choices[i];
    sum += std::exp(expected);
  }
  for (std::size_t i = 0; i < choices.size(); ++i)
    EXPECT_NEAR(scores[i].find("score")->as_double(), std::exp(logprobs[i]) / sum, 1e-12);
  const auto best = std::ranges::max_element(logprobs) - logprobs.begin();
  EXPECT_EQ(answer.find("text")->as_string(), choices[static_cast<std::size_t>(best)]);
  EXPECT_EQ(answer.find("finish_reason")->as_string(), "stop");
}

TEST_F(ModelServiceTest, TokensOfAnotherArithmeticAreMadeAnew) {
  const auto one = service(1), other = service(2);
  Records want, got;
  one->submit(invocation(0));
  finish(*one, want);
  protocol::Invocation foreign = invocation(0);
  foreign.progress = Progress{"another", {{5, 6, 7}}};  // not what this model says
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
  empty.payload = R"({"prompt": "a", "max_tokens": 0, "echo": true})";
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
  empty.payload = R"({"prompt": "a", "max_tokens": 0, "echo": true})";
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
