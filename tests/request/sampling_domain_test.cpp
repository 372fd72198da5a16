#include <gmock/gmock.h>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sticky/request/request.hpp"

namespace sticky::request {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::variant<Request, RequestError> parse(std::string_view parameters,
                                          const Sampling& defaults = {},
                                          bool is_chat = true) {
  const std::string start =
      is_chat ? R"({"messages":[{"role":"user","content":"Hi"}])" : R"({"prompt":"Hi")";
  const std::string comma = parameters.empty() ? "" : ",";
  return parse_request(Json::parse(start + comma + std::string(parameters) + "}"), defaults);
}

Sampling accepted(std::string_view parameters, const Sampling& defaults = {}, bool is_chat = true) {
  const auto parsed = parse(parameters, defaults, is_chat);
  if (const auto* error = std::get_if<RequestError>(&parsed)) {
    ADD_FAILURE() << parameters << " was refused: " << error->message;
    return {};
  }
  return std::get<Request>(parsed).sampling;
}

RequestError refused(std::string_view parameters, bool is_chat = true) {
  const auto parsed = parse(parameters, {}, is_chat);
  if (std::holds_alternative<Request>(parsed)) {
    ADD_FAILURE() << parameters << " was accepted";
    return {};
  }
  return std::get<RequestError>(parsed);
}

struct Domain {
  const char* name;
  std::vector<const char*> inside;
  std::vector<const char*> outside;
};

const Domain kDomains[] = {
    {"temperature", {"0", "0.0", "2", "1e-300"}, {"-0.001", "2.0001", "\"1\"", "true", "[]"}},
    {"top_p", {"1", "1e-9"}, {"0", "-0.5", "1.0001", "\"0.5\""}},
    {"min_p", {"0", "1", "0.05"}, {"-0.1", "1.1", "{}"}},
    {"top_k", {"-1", "0", "1", "50.0", "9223372036854775807"}, {"-2", "1.5", "\"40\"", "1e30"}},
    {"repetition_penalty", {"0.1", "1.3", "1"}, {"0", "-1", "1e7", "false"}},
    {"presence_penalty", {"-2", "2", "0"}, {"-2.1", "2.1", "\"0\""}},
    {"frequency_penalty", {"-2", "2", "0"}, {"-2.1", "2.1", "\"0\""}},
    {"seed",
     {"0", "-9223372036854775808", "9223372036854775807"},
     {"9223372036854775808", "0.5", "\"1\"", "1e300"}},
    {"max_tokens", {"1", "64.0", "9223372036854775807"}, {"0", "-1", "0.5", "\"8\"", "1e19"}},
    {"max_completion_tokens", {"1", "4096"}, {"0", "-1", "2.5", "true"}},
    {"min_tokens", {"0", "5"}, {"-1", "0.5", "\"1\""}},
    {"ignore_eos", {"true", "false"}, {"0", "\"true\"", "1"}},
    {"include_stop_str_in_output", {"true", "false"}, {"1", "\"\""}},
    {"return_token_ids", {"true", "false"}, {"1", "\"yes\""}},
    {"prompt_logprobs", {"0", "20", "3.0"}, {"-1", "21", "true", "\"1\"", "0.5"}},
    {"n", {"1", "128", "2.0"}, {"0", "-1", "129", "1.5", "\"2\"", "true", "1e30"}},
    {"best_of", {"1", "1.0"}, {"0", "2", "\"1\"", "true", "[]"}},
    {"stop", {"\"a\"", "[]", "[\"a\",\"b\"]"}, {"7", "{}", "true"}},
    {"stop_token_ids", {"[]", "[0,2147483647]"}, {"7", "\"7\"", "{}"}},
    {"logit_bias", {"{}", "{\"0\":-100,\"49151\":100}"}, {"[]", "7", "{\"a\":1}", "{\"\":1}"}},
    {"logprobs", {"true", "false"}, {"1", "\"true\"", "[]"}},
};

}  // namespace

TEST(SamplingDomain, EveryParameterTakesItsDomainAndNothingElse) {
  for (const Domain& domain : kDomains) {
    for (const char* value : domain.inside)
      (void)accepted(fmt::format("\"{}\":{}", domain.name, value));
    for (const char* value : domain.outside) {
      const RequestError e = refused(fmt::format("\"{}\":{}", domain.name, value));
      EXPECT_EQ(e.code, "invalid_request") << domain.name << " " << value;
      EXPECT_EQ(e.param, domain.name) << value;
      EXPECT_THAT(e.message, HasSubstr("found")) << domain.name << " " << value;
    }
  }
}

TEST(SamplingDomain, NullMeansNotGiven) {
  Sampling defaults;
  defaults.temperature = 0.25;
  defaults.max_tokens = 7;
  defaults.stop = {"###"};
  for (const Domain& domain : kDomains) {
    const Sampling s = accepted(fmt::format("\"{}\":null", domain.name), defaults);
    EXPECT_EQ(s.temperature, 0.25) << domain.name;
    EXPECT_EQ(s.max_tokens, 7) << domain.name;
    EXPECT_THAT(s.stop, ElementsAre("###")) << domain.name;
  }
}

TEST(SamplingDomain, EveryValueEntersItsOwnField) {
  const Sampling s = accepted(
      R"("temperature":0.5,"top_p":0.25,"top_k":40,"min_p":0.125,"repetition_penalty":1.5,)"
      R"("presence_penalty":-1.5,"frequency_penalty":1.75,"seed":-3,"max_completion_tokens":9,)"
      R"("min_tokens":2,"ignore_eos":true,"stop":["a","bc"],"stop_token_ids":[5,6],)"
      R"("include_stop_str_in_output":true,"logprobs":true,"top_logprobs":4,)"
      R"("logit_bias":{"20":-100,"3":1.5})");

  EXPECT_EQ(s.temperature, 0.5);
  EXPECT_EQ(s.top_p, 0.25);
  EXPECT_EQ(s.top_k, 40);
  EXPECT_EQ(s.min_p, 0.125);
  EXPECT_EQ(s.repetition_penalty, 1.5);
  EXPECT_EQ(s.presence_penalty, -1.5);
  EXPECT_EQ(s.frequency_penalty, 1.75);
  EXPECT_EQ(s.seed, -3);
  EXPECT_EQ(s.max_tokens, 9);
  EXPECT_EQ(s.min_tokens, 2);
  EXPECT_TRUE(s.ignore_eos);
  EXPECT_THAT(s.stop, ElementsAre("a", "bc"));
  EXPECT_THAT(s.stop_token_ids, ElementsAre(5, 6));
  EXPECT_TRUE(s.include_stop_str_in_output);
  EXPECT_EQ(s.top_logprobs, 4);
  EXPECT_THAT(s.logit_bias, ElementsAre(Pair(3, 1.5), Pair(20, -100.0)));
}

TEST(SamplingDomain, TopKOfMinusOneIsOff) {
  EXPECT_EQ(accepted(R"("top_k":-1)").top_k, 0);
}

TEST(SamplingDomain, ElementsAtFaultAreNamedByTheirPlace) {
  EXPECT_EQ(refused(R"("stop":"")").param, "stop");
  EXPECT_EQ(refused(R"("stop":["a",""])").param, "stop[1]");
  EXPECT_EQ(refused(R"("stop":[7])").param, "stop[0]");
  EXPECT_EQ(refused(R"("stop_token_ids":[1,-1])").param, "stop_token_ids[1]");
  EXPECT_EQ(refused(R"("stop_token_ids":[2147483648])").param, "stop_token_ids[0]");
  EXPECT_EQ(refused(R"("logit_bias":{"5":101})").param, "logit_bias[5]");
  EXPECT_EQ(refused(R"("logit_bias":{"5":"1"})").param, "logit_bias[5]");
}

TEST(SamplingDomain, LogitBiasNamesAreTokenIdsWrittenPlainly) {
  for (const char* name : {"-1", "+1", " 1", "1 ", "01", "1.0", "2147483648", "0x1", "00"})
    EXPECT_EQ(refused(fmt::format(R"("logit_bias":{{"{}":1}})", name)).param, "logit_bias") << name;
}

TEST(SamplingDomain, ListsOfStopsAreBounded) {
  const auto list = [](int n) {
    Json::Array stops(static_cast<std::size_t>(n), Json("x"));
    return "\"stop\":" + Json(std::move(stops)).dump();
  };

  EXPECT_EQ(accepted(list(64)).stop.size(), 64U);
  EXPECT_EQ(refused(list(65)).param, "stop");
  EXPECT_EQ(refused("\"stop\":\"" + std::string(4097, 'x') + "\"").param, "stop");
}

TEST(SamplingDomain, TheTwoNamesOfTheLengthMustAgree) {
  EXPECT_EQ(accepted(R"("max_tokens":5,"max_completion_tokens":5)").max_tokens, 5);
  EXPECT_EQ(refused(R"("max_tokens":5,"max_completion_tokens":6)").param, "max_completion_tokens");
}

TEST(SamplingDomain, TheLeastLengthMustNotExceedTheMost) {
  EXPECT_EQ(accepted(R"("max_tokens":5,"min_tokens":5)").min_tokens, 5);
  EXPECT_EQ(refused(R"("max_tokens":5,"min_tokens":6)").param, "min_tokens");
}

TEST(SamplingDomain, NoTokensAreForThoseWhoAskOfThePrompt) {
  Sampling defaults;
  defaults.min_tokens = 3;

  EXPECT_EQ(accepted(R"("max_tokens":0,"prompt_logprobs":0)", defaults).max_tokens, 0);
  EXPECT_EQ(accepted(R"("max_tokens":0,"prompt_logprobs":0)", defaults).min_tokens, 0);
  EXPECT_EQ(accepted(R"("max_completion_tokens":0,"prompt_logprobs":5)").max_tokens, 0);
  EXPECT_EQ(accepted(R"("max_tokens":0,"echo":true)", {}, false).max_tokens, 0);
  EXPECT_EQ(refused(R"("max_tokens":0,"echo":false,"logprobs":1)", false).param, "max_tokens");
  EXPECT_EQ(refused(R"("max_tokens":0,"min_tokens":1,"prompt_logprobs":0)").param, "min_tokens");
}

TEST(SamplingDomain, AChatWithoutLengthRunsToTheContextsEndACompletionHas16Tokens) {
  Sampling defaults;
  defaults.max_tokens = 64;

  EXPECT_EQ(accepted("", {}, true).max_tokens, std::nullopt);
  EXPECT_EQ(accepted("", {}, false).max_tokens, 16);
  EXPECT_EQ(accepted(R"("min_tokens":20)", {}, false).max_tokens, 20);
  EXPECT_EQ(accepted("", defaults, false).max_tokens, 64);
}

TEST(SamplingDomain, ChatLogprobsAreABooleanWithANumberBeside) {
  EXPECT_EQ(accepted("").top_logprobs, -1);
  EXPECT_EQ(accepted(R"("logprobs":true)").top_logprobs, 0);
  EXPECT_EQ(accepted(R"("logprobs":true,"top_logprobs":20)").top_logprobs, 20);
  EXPECT_EQ(accepted(R"("logprobs":false,"top_logprobs":0)").top_logprobs, -1);
  EXPECT_EQ(refused(R"("logprobs":true,"top_logprobs":21)").param, "top_logprobs");
  EXPECT_EQ(refused(R"("top_logprobs":3)").param, "top_logprobs");
  EXPECT_EQ(refused(R"("logprobs":3)").param, "logprobs");
}

TEST(SamplingDomain, CompletionLogprobsAreANumberOrAsChatHasThem) {
  EXPECT_EQ(accepted(R"("logprobs":0)", {}, false).top_logprobs, 0);
  EXPECT_EQ(accepted(R"("logprobs":20)", {}, false).top_logprobs, 20);
  EXPECT_EQ(accepted(R"("logprobs":true,"top_logprobs":2)", {}, false).top_logprobs, 2);
  EXPECT_EQ(refused(R"("logprobs":21)", false).param, "logprobs");
  EXPECT_EQ(refused(R"("logprobs":-1)", false).param, "logprobs");
  EXPECT_EQ(refused(R"("logprobs":2,"top_logprobs":2)", false).param, "top_logprobs");
}

}  // namespace sticky::request
