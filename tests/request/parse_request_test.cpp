#include <gmock/gmock.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sticky/request/request.hpp"

namespace sticky::request {

namespace {

using testing::HasSubstr;

Request accepted(std::string_view line, const Sampling& defaults = {}) {
  auto parsed = parse_request(Json::parse(line), defaults);
  if (const auto* error = std::get_if<RequestError>(&parsed)) {
    ADD_FAILURE() << line << "\nwas refused: " << error->message;
    return {};
  }
  return std::get<Request>(std::move(parsed));
}

RequestError refused(std::string_view line) {
  auto parsed = parse_request(Json::parse(line), {});
  if (std::holds_alternative<Request>(parsed)) {
    ADD_FAILURE() << line << "\nwas accepted";
    return {};
  }
  return std::get<RequestError>(std::move(parsed));
}

std::string chat_line(std::string_view more) {
  return R"({"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{)"
         R"("messages":[{"role":"user","content":"Hi"}])" +
         std::string(more) + "}}";
}

std::string completion_line(std::string_view body) {
  return R"({"custom_id":"a","method":"POST","url":"/v1/completions","body":{)" +
         std::string(body) + "}}";
}

}  // namespace

TEST(ParseRequest, AChatLineOfOpenAisBatchFormIsUnderstood) {
  const Request r = accepted(
      R"({"custom_id":"claim-1","method":"POST","url":"/v1/chat/completions","body":{"model":"m",)"
      R"("messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}],)"
      R"("max_tokens":8,"temperature":0}})");

  EXPECT_EQ(r.endpoint, Endpoint::chat);
  EXPECT_EQ(r.custom_id, "claim-1");
  EXPECT_EQ(r.model, "m");
  EXPECT_EQ(r.messages.dump(),
            R"([{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}])");
  EXPECT_EQ(r.sampling.max_tokens, 8);
  EXPECT_EQ(r.sampling.temperature, 0.0);
  EXPECT_TRUE(r.add_generation_prompt);
  EXPECT_TRUE(r.row.is_null());
  EXPECT_TRUE(r.tools.is_null());
}

TEST(ParseRequest, ACompletionLineTakesTextOrTokenIds) {
  const Request text = accepted(completion_line(R"("prompt":"Once","add_special_tokens":false)"));
  const Request ids = accepted(completion_line(R"("prompt":[1,0,2147483647])"));

  EXPECT_EQ(text.endpoint, Endpoint::completions);
  EXPECT_EQ(std::get<std::string>(text.prompt), "Once");
  EXPECT_FALSE(text.add_special_tokens);
  EXPECT_EQ(std::get<std::vector<i32>>(ids.prompt), (std::vector<i32>{1, 0, 2147483647}));
  EXPECT_TRUE(ids.add_special_tokens);
}

TEST(ParseRequest, AnArrayOfOnePromptIsThatPrompt) {
  EXPECT_EQ(std::get<std::string>(accepted(completion_line(R"("prompt":["Once"])")).prompt),
            "Once");
  EXPECT_EQ(std::get<std::vector<i32>>(accepted(completion_line(R"("prompt":[[3,4]])")).prompt),
            (std::vector<i32>{3, 4}));
  EXPECT_TRUE(
      std::get<std::vector<i32>>(accepted(completion_line(R"("prompt":[])")).prompt).empty());
}

TEST(ParseRequest, AShorthandLineKeepsItsOtherColumns) {
  const Request r = accepted(
      R"({"id":"7","prompt":"Paris is","label":"yes","max_tokens":3,"url":"http://x","user":"bo"})");

  EXPECT_EQ(r.endpoint, Endpoint::completions);
  EXPECT_EQ(r.custom_id, "7");
  EXPECT_EQ(r.sampling.max_tokens, 3);
  EXPECT_EQ(r.row.dump(), R"({"label":"yes","url":"http://x","user":"bo"})");
}

TEST(ParseRequest, AShorthandLineMayBeAChat) {
  const Request r = accepted(R"({"messages":[{"role":"user","content":"Hi"}],"top_p":0.5})");

  EXPECT_EQ(r.endpoint, Endpoint::chat);
  EXPECT_EQ(r.custom_id, std::nullopt);
  EXPECT_EQ(r.sampling.top_p, 0.5);
}

TEST(ParseRequest, ColumnsNamedAsTheBatchFormsMembersDoNotMakeABatchLine) {
  const Request r = accepted(R"({"prompt":"Hi","body":"of an article","method":"GET"})");

  EXPECT_EQ(r.row.dump(), R"({"body":"of an article","method":"GET"})");
}

TEST(ParseRequest, CustomIdComesBeforeIdWhichThenIsAColumn) {
  const Request r = accepted(R"({"custom_id":"a","id":7,"prompt":"Hi"})");

  EXPECT_EQ(r.custom_id, "a");
  EXPECT_EQ(r.row.dump(), R"({"id":7})");
}

TEST(ParseRequest, AnIdThatIsEmptyOrNoStringIsRefusedByTheNameCustomId) {
  for (const char* id : {R"("")", "7", "null", "[]", "true"}) {
    for (const char* name : {"custom_id", "id"}) {
      const RequestError e = refused(fmt::format(R"({{"{}":{},"prompt":"Hi"}})", name, id));
      EXPECT_EQ(e.code, "invalid_request");
      EXPECT_EQ(e.param, "custom_id");
      EXPECT_THAT(e.message, HasSubstr(std::string("found ") + id));
    }
  }
}

TEST(ParseRequest, OtherUrlsAndMethodsAreRefused) {
  const auto line = [](const char* method, const char* url) {
    return fmt::format(R"({{"custom_id":"a",{}{}"body":{{"prompt":"Hi"}}}})", method, url);
  };
  const auto check = [](const std::string& text, const char* code, const char* param) {
    const RequestError e = refused(text);
    EXPECT_EQ(e.code, code) << text;
    EXPECT_EQ(e.param, param) << text;
    EXPECT_EQ(e.custom_id, "a");
  };

  check(line(R"("method":"POST",)", R"("url":"/v1/embeddings",)"), "url_mismatch", "url");
  check(line(R"("method":"POST",)", R"("url":"/v1/audio",)"), "url_mismatch", "url");
  check(line(R"("method":"POST",)", R"("url":7,)"), "invalid_request", "url");
  check(line(R"("method":"POST",)", ""), "invalid_request", "url");
  check(line(R"("method":"GET",)", R"("url":"/v1/completions",)"), "invalid_request", "method");
  check(line("", R"("url":"/v1/completions",)"), "invalid_request", "method");
}

TEST(ParseRequest, ABodyMustBeAnObject) {
  for (const char* body : {"null", "[]", "\"text\"", "3"}) {
    const RequestError e =
        refused(fmt::format(R"({{"method":"POST","url":"/v1/completions","body":{}}})", body));
    EXPECT_EQ(e.param, "body") << body;
  }
  EXPECT_EQ(refused(R"({"method":"POST","url":"/v1/completions"})").param, "body");
}

TEST(ParseRequest, ALineThatIsNoObjectIsNoJsonLine) {
  for (const char* line : {"[]", "null", "1", "\"prompt\""})
    EXPECT_EQ(refused(line).code, "invalid_json_line") << line;
}

TEST(ParseRequest, ALineThatAsksForNothingOrTwiceIsRefused) {
  EXPECT_EQ(refused("{}").code, "invalid_request");
  EXPECT_EQ(refused(R"({"promt":"Hi"})").code, "invalid_request");
  EXPECT_EQ(refused(R"({"prompt":null})").code, "invalid_request");
  EXPECT_EQ(refused(R"({"prompt":"Hi","messages":[]})").param, "prompt");
}

TEST(ParseRequest, EachFaultOfMessagesIsNamedByItsPlace) {
  const auto param = [](const char* messages) {
    return refused(fmt::format(R"({{"messages":{}}})", messages)).param;
  };

  EXPECT_EQ(param("[]"), "messages");
  EXPECT_EQ(param("\"Hi\""), "messages");
  EXPECT_EQ(param("[7]"), "messages[0]");
  EXPECT_EQ(param(R"([{"content":"Hi"}])"), "messages[0].role");
  EXPECT_EQ(param(R"([{"role":7,"content":"Hi"}])"), "messages[0].role");
  EXPECT_EQ(param(R"([{"role":"","content":"Hi"}])"), "messages[0].role");
  EXPECT_EQ(param(R"([{"role":"user","content":"Hi"},{"role":"user"}])"), "messages[1].content");
  EXPECT_EQ(param(R"([{"role":"user","content":7}])"), "messages[0].content");
  EXPECT_EQ(param(R"([{"role":"user","content":["Hi"]}])"), "messages[0].content[0]");
  EXPECT_EQ(param(R"([{"role":"user","content":[{"text":"Hi"}]}])"), "messages[0].content[0].type");
  EXPECT_EQ(param(R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text"}]}])"),
            "messages[0].content[1].text");
}

TEST(ParseRequest, PartsThatAreNoTextAreRefusedByTheirType) {
  const RequestError e = refused(
      R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]})");

  EXPECT_EQ(e.param, "messages[0].content[0].type");
  EXPECT_THAT(e.message, HasSubstr("image_url"));
}

TEST(ParseRequest, ContentMayBeNullPartsOrMissingBesideToolCalls) {
  (void)accepted(R"({"messages":[{"role":"user","content":null}]})");
  (void)accepted(R"({"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]})");
  (void)accepted(R"({"messages":[{"role":"assistant","tool_calls":[{"id":"1"}]}]})");
}

TEST(ParseRequest, PromptsThatAreNeitherTextNorIdsAreRefused) {
  const auto error = [](const char* prompt) {
    return refused(completion_line(fmt::format(R"("prompt":{})", prompt)));
  };

  EXPECT_EQ(error("{}").param, "prompt");
  EXPECT_EQ(error("7").param, "prompt");
  EXPECT_EQ(error(R"(["a","b"])").param, "prompt");
  EXPECT_EQ(error("[1,-1]").param, "prompt[1]");
  EXPECT_EQ(error("[2147483648]").param, "prompt[0]");
  EXPECT_EQ(error("[1.5]").param, "prompt[0]");
  EXPECT_EQ(error("[1,2,true]").param, "prompt[2]");
  EXPECT_EQ(error("[99999999999999999999]").param, "prompt[0]");
  EXPECT_EQ(error(R"([[1,"a"]])").param, "prompt[0][1]");
}

TEST(ParseRequest, AParameterOfTheOtherEndpointIsRefused) {
  EXPECT_EQ(refused(chat_line(R"(,"prompt":"Hi")")).param, "prompt");
  EXPECT_EQ(refused(chat_line(R"(,"echo":true)")).param, "echo");
  EXPECT_EQ(refused(completion_line(R"("prompt":"Hi","messages":[])")).param, "messages");
  EXPECT_EQ(refused(completion_line(R"("prompt":"Hi","tools":[])")).param, "tools");
}

TEST(ParseRequest, AMisspeltParameterOfABodyIsRefusedWithTheNearestName) {
  const RequestError near = refused(chat_line(R"(,"max_token":5)"));
  const RequestError far = refused(chat_line(R"(,"zzzzzzzzzzz":5)"));

  EXPECT_EQ(near.code, "invalid_request");
  EXPECT_EQ(near.param, "max_token");
  EXPECT_THAT(near.message, HasSubstr("'max_tokens'"));
  EXPECT_EQ(far.param, "zzzzzzzzzzz");
  EXPECT_THAT(far.message, testing::Not(HasSubstr("meant")));
}

TEST(ParseRequest, ParametersThatCannotChangeAnAnswerPass) {
  const Request r = accepted(
      chat_line(R"(,"user":"bo","metadata":{"a":"b"},"store":true,"service_tier":"flex",)"
                R"("stream":false,"n":1,"response_format":{"type":"text"},"tool_choice":"auto",)"
                R"("parallel_tool_calls":false,"best_of":null,"length_penalty":1)"));

  EXPECT_TRUE(r.row.is_null());
}

TEST(ParseRequest, ParametersThatWouldChangeTheAnswerAndAreNotOfferedAreRefused) {
  for (const char* member : {R"("stream":true)", R"("regex":"a+")", R"("json_schema":{})",
                             R"("response_format":{"type":"json_object"})",
                             R"("use_beam_search":true)", R"("skip_special_tokens":false)"}) {
    const std::string name(member + 1, std::string_view(member).find('"', 1) - 1);
    for (const std::string& line :
         {chat_line("," + std::string(member)), R"({"prompt":"Hi",)" + std::string(member) + "}"}) {
      const RequestError e = refused(line);
      EXPECT_EQ(e.code, "invalid_request") << line;
      EXPECT_EQ(e.param, name) << line;
    }
  }
  EXPECT_EQ(refused(completion_line(R"("prompt":"Hi","suffix":"end")")).param, "suffix");
  EXPECT_EQ(refused(chat_line(R"(,"tool_choice":"required")")).param, "tool_choice");
}

TEST(ParseRequest, LogprobsOfThePromptAreThoseAskedForAndThoseThatEchoRepeats) {
  const auto n_top = [](const char* more) {
    return n_top_of_prompt(accepted(completion_line(R"("prompt":"Hi")" + std::string(more))));
  };

  EXPECT_EQ(n_top(""), -1);
  EXPECT_EQ(n_top(R"(,"logprobs":3)"), -1);
  EXPECT_EQ(n_top(R"(,"echo":true)"), -1);
  EXPECT_EQ(n_top(R"(,"echo":true,"logprobs":3)"), 3);
  EXPECT_EQ(n_top(R"(,"prompt_logprobs":2)"), 2);
  EXPECT_EQ(n_top(R"(,"prompt_logprobs":2,"echo":true,"logprobs":3)"), 3);
  EXPECT_EQ(n_top(R"(,"prompt_logprobs":4,"echo":true,"logprobs":3)"), 4);
  EXPECT_TRUE(accepted(completion_line(R"("prompt":[1],"echo":true)")).echo);
  EXPECT_EQ(n_top_of_prompt(accepted(chat_line(R"(,"prompt_logprobs":0)"))), 0);
}

TEST(ParseRequest, SeveralAnswersAreAllGiven) {
  EXPECT_EQ(accepted(chat_line("")).n, 1);
  EXPECT_EQ(accepted(chat_line(R"(,"n":5)")).n, 5);
  EXPECT_EQ(accepted(completion_line(R"("prompt":"Hi","n":5,"best_of":5)")).n, 5);
  EXPECT_EQ(refused(completion_line(R"("prompt":"Hi","n":2,"best_of":5)")).param, "best_of");
  EXPECT_EQ(refused(completion_line(R"("prompt":"Hi","best_of":5)")).param, "best_of");
}

TEST(ParseRequest, ChoicesAreDistinctTexts) {
  EXPECT_EQ(accepted(chat_line(R"(,"choice":["yes","no"],"temperature":1,"max_tokens":1)")).choice,
            (std::vector<std::string>{"yes", "no"}));
  EXPECT_EQ(accepted(completion_line(R"("prompt":"Hi","choice":["a"],"echo":false,"n":1)")).choice,
            std::vector<std::string>{"a"});
  EXPECT_EQ(accepted(chat_line(R"(,"choice":["yes"],"max_tokens":0)")).choice.size(), 1U);
  EXPECT_TRUE(accepted(chat_line(R"(,"choice":null)")).choice.empty());
  const auto param = [](const std::string& more) {
    return refused(completion_line(R"("prompt":"Hi",)" + more)).param;
  };

  EXPECT_EQ(param(R"("choice":[])"), "choice");
  EXPECT_EQ(param(R"("choice":"yes")"), "choice");
  EXPECT_EQ(param(R"("choice":{"a":1})"), "choice");
  EXPECT_EQ(param(R"("choice":["a",7])"), "choice[1]");
  EXPECT_EQ(param(R"("choice":["a",""])"), "choice[1]");
  EXPECT_EQ(param(R"("choice":["a","b","a"])"), "choice[2]");
  EXPECT_EQ(param(R"("choice":["a",")" + std::string(4097, 'x') + "\"]"), "choice[1]");
  const auto list = [](int n) {
    Json::Array texts;
    for (int i = 0; i < n; ++i)
      texts.push_back(Json(std::to_string(i)));
    return R"("choice":)" + Json(std::move(texts)).dump();
  };
  EXPECT_EQ(accepted(completion_line(R"("prompt":"Hi",)" + list(256))).choice.size(), 256U);
  EXPECT_EQ(param(list(257)), "choice");
}

TEST(ParseRequest, WhatWouldDoNothingBesideAChoiceIsRefused) {
  for (const char* member :
       {R"("n":2)", R"("echo":true)", R"("prompt_logprobs":1)", R"("logit_bias":{"5":1})",
        R"("repetition_penalty":1.5)", R"("presence_penalty":1)", R"("frequency_penalty":1)"}) {
    const std::string name(member + 1, std::string_view(member).find('"', 1) - 1);
    const RequestError e =
        refused(completion_line(R"("prompt":"Hi","choice":["a"],)" + std::string(member)));
    EXPECT_EQ(e.code, "invalid_request") << member;
    EXPECT_EQ(e.param, name) << member;
  }
  Sampling of_the_job;
  of_the_job.repetition_penalty = 1.2;
  EXPECT_EQ(
      accepted(chat_line(R"(,"choice":["a"],"frequency_penalty":0)"), of_the_job).choice.size(),
      1U);
}

TEST(ParseRequest, ChatHasToolsAndTemplateArguments) {
  const Request r = accepted(
      chat_line(R"(,"tools":[{"type":"function"}],"chat_template_kwargs":{"thinking":false},)"
                R"("add_generation_prompt":false,"return_token_ids":true)"));

  EXPECT_EQ(r.tools.dump(), R"([{"type":"function"}])");
  EXPECT_EQ(r.template_kwargs.dump(), R"({"thinking":false})");
  EXPECT_FALSE(r.add_generation_prompt);
  EXPECT_TRUE(r.return_token_ids);
  EXPECT_TRUE(accepted(chat_line(R"(,"tools":[])")).tools.is_null());
  EXPECT_EQ(refused(chat_line(R"(,"tools":[7])")).param, "tools[0]");
  EXPECT_EQ(refused(chat_line(R"(,"tools":{})")).param, "tools");
  EXPECT_EQ(refused(chat_line(R"(,"chat_template_kwargs":[])")).param, "chat_template_kwargs");
}

TEST(ParseRequest, ALongValueIsShownShortAndWhole) {
  const std::string umlauts(200, 'x');
  const RequestError e = refused(chat_line(R"(,"temperature":"aäöü)" + umlauts + R"(äöü")"));

  EXPECT_LT(e.message.size(), 150U);
  EXPECT_THAT(e.message, HasSubstr("aäöü"));
}

}  // namespace sticky::request
