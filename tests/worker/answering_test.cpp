#include "src/worker/answering.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/piece_tokenizer.hpp"

namespace sticky::worker {
namespace {

const test::PieceTokenizer& tokenizer() {
  static const test::PieceTokenizer kTokenizer({"a", "b", "c", "<s>"}, {3});
  return kTokenizer;
}

constexpr Hash128 kIdentity{.high = 3, .low = 4};

Accepted accepted(const char* line) {
  auto request = std::get<request::Request>(request::parse_request(Json::parse(line), {}));
  Prompt prompt{.text = "", .token_ids = {3, 1, 2}};
  if (const auto* text = std::get_if<std::string>(&request.prompt)) prompt.text = *text;
  return {std::move(request), std::move(prompt)};
}

Answering answering(const char* line) {
  return {accepted(line), kIdentity, tokenizer()};
}

engine::Outcome outcome(std::vector<i32> ids, std::string text = "") {
  engine::Outcome out;
  out.answer.text = std::move(text);
  out.answer.token_ids = std::move(ids);
  return out;
}

engine::Outcome scored(const std::vector<double>& logprobs) {
  engine::Outcome out;
  out.prompt.logprobs.emplace();
  for (const double logprob : logprobs)
    out.prompt.logprobs->push_back({.id = 1, .piece = "b", .logprob = logprob, .top = {}});
  return out;
}

TEST(Answering, EachDrawnAnswerIsAJobAndOnlyOneTellsOfThePrompt) {
  const Answering drawn = answering(R"({"prompt":"x","n":3,"prompt_logprobs":2})");
  const auto jobs = drawn.jobs(100, {{7}, {}, {8, 9}});

  ASSERT_EQ(jobs.size(), 3U);
  for (i64 k = 0; k < 3; ++k) {
    const engine::Job& job = jobs[static_cast<std::size_t>(k)];
    EXPECT_EQ(job.key, 100 + k);
    EXPECT_EQ(job.choice, k);
    EXPECT_EQ(job.prompt, (std::vector<i32>{3, 1, 2}));
    EXPECT_EQ(job.identity, kIdentity);
    EXPECT_EQ(job.scoring.has_value(), k == 0);
  }
  EXPECT_EQ(jobs[0].made, std::vector<i32>{7});
  EXPECT_TRUE(jobs[1].made.empty());
  EXPECT_EQ(jobs[2].made, (std::vector<i32>{8, 9}));
}

TEST(Answering, EqualAnswersAreMadeOnceAndGivenAsOftenAsAskedFor) {
  for (const char* line :
       {R"({"prompt":"x","n":3,"temperature":0})", R"({"prompt":"x","n":3,"top_k":1})",
        R"({"prompt":"x","n":3,"max_tokens":0,"echo":true})"}) {
    Answering equal = answering(line);
    ASSERT_EQ(equal.jobs(0, {}).size(), 1U) << line;
    EXPECT_TRUE(equal.take(0, outcome({1}, "b")));
    ASSERT_EQ(equal.response().answers.size(), 3U);
    EXPECT_EQ(equal.response().answers[2].text, "b");
  }
}

TEST(Answering, IsCompleteWhenAllJobsHaveCome) {
  Answering two = answering(R"({"prompt":"x","n":2})");

  EXPECT_FALSE(two.take(1, outcome({2, 1}, "cb")));
  EXPECT_FALSE(two.is_done(0));
  EXPECT_TRUE(two.is_done(1));
  EXPECT_TRUE(two.take(0, outcome({1}, "b")));
  EXPECT_EQ(two.response().answers[0].text, "b");
  EXPECT_EQ(two.response().answers[1].text, "cb");
}

// An engine takes only tokens behind which something is to be made.
TEST(Answering, ACompleteAnswerMovesWithAllItsTokensButTheLast) {
  Answering two = answering(R"({"prompt":"x","n":2})");
  (void)two.take(0, outcome({2, 1, 0}));
  (void)two.take(1, outcome({}));

  EXPECT_EQ(two.made_by(0), (std::vector<i32>{2, 1}));
  EXPECT_TRUE(two.made_by(1).empty());
}

TEST(Answering, AnyJobsFaultIsTheRequests) {
  Answering two = answering(R"({"prompt":"x","n":2})");
  (void)two.take(0, outcome({}));
  auto bad = outcome({});
  bad.fault = "NaN";
  (void)two.take(1, bad);

  EXPECT_EQ(two.fault(), "NaN");
}

TEST(Answering, EchoRepeatsTextAsItIsAndIdsAsWhatTheyStandFor) {
  const auto echo = [](const char* line) {
    Answering one = answering(line);
    (void)one.take(0, outcome({}));
    return one.response().prompt.text;
  };

  EXPECT_EQ(echo(R"({"prompt":"any text","echo":true,"max_tokens":0})"), "any text");
  EXPECT_EQ(echo(R"({"prompt":[3,1,2],"echo":true,"max_tokens":0})"), "<s>bc");
  EXPECT_EQ(echo(R"({"prompt":"any text"})"), "");
}

Answering choosing(const char* line = R"({"prompt":"x","choice":["a","b","c"]})") {
  Accepted asked = accepted(line);
  asked.prompt.choices = {{3, 1, 2, 0}, {3, 1, 2, 1, 1}, {3, 1, 2, 2}};
  asked.prompt.n_shared = 3;
  return {std::move(asked), kIdentity, tokenizer()};
}

TEST(Answering, EachChoiceIsScoredBehindWhatAllShare) {
  const auto jobs = choosing().jobs(512, {{1, 2}});

  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[1].prompt, (std::vector<i32>{3, 1, 2, 1, 1}));
  EXPECT_EQ(jobs[1].key, 513);
  EXPECT_EQ(jobs[1].sampling.max_tokens, 0);
  EXPECT_EQ(jobs[1].scoring->first, 3);
  EXPECT_TRUE(jobs[0].made.empty());
}

TEST(Answering, TheMostProbableChoiceIsTheAnswerAndTheFirstOfEquals) {
  Answering asked = choosing();
  (void)asked.take(2, scored({-1.5}));
  (void)asked.take(0, scored({-2.5}));
  ASSERT_TRUE(asked.take(1, scored({-1.0, -0.5})));
  const auto response = asked.response();

  ASSERT_EQ(response.answers.size(), 1U);
  EXPECT_EQ(response.answers[0].text, "b");
  EXPECT_EQ(response.answers[0].token_ids, (std::vector<i32>{1, 1}));
  EXPECT_EQ(response.answers[0].finish_reason, "stop");
  EXPECT_FALSE(response.answers[0].logprobs.has_value());
  EXPECT_FALSE(response.prompt.logprobs.has_value());
  ASSERT_EQ(response.scores.size(), 3U);
  const double sum = std::exp(-2.5) + 2 * std::exp(-1.5);
  const char* const texts[] = {"a", "b", "c"};
  const double logprobs[] = {-2.5, -1.5, -1.5};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(response.scores[k].text, texts[k]);
    EXPECT_EQ(response.scores[k].logprob, logprobs[k]);
    EXPECT_NEAR(response.scores[k].score, std::exp(logprobs[k]) / sum, 1e-15);
  }
}

}  // namespace
}  // namespace sticky::worker
