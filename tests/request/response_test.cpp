#include "sticky/request/response.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sticky/base/utf8.hpp"

namespace sticky::request {

namespace {

Origin origin() {
  Origin o;
  o.custom_id = "claim-1";
  o.file = "claims.jsonl";
  o.line = 12;
  o.byte_offset = 3456;
  o.hash = Hash128{1, 2};
  o.state = "default";
  o.arithmetic = "cpu-f32";
  o.worker = 3;
  o.attempts = 2;
  o.queued_seconds = 0.5;
  o.prefill_seconds = 0.25;
  o.decode_seconds = 1.5;
  o.created = 1700000000;
  return o;
}

Response answer(std::string prompt = "") {
  Response r;
  r.prompt.text = std::move(prompt);
  r.prompt.token_ids = {1, 5, 6, 7};
  r.prompt.cached_tokens = 3;
  Answer& a = r.answers.emplace_back();
  a.text = "SUPPORTED";
  a.token_ids = {10, 11, 2};
  a.finish_reason = "stop";
  return r;
}

Request request_of(std::string_view line) {
  return std::get<Request>(parse_request(Json::parse(line), {}));
}

Request chat() {
  return request_of(R"({"model":"asked","messages":[{"role":"user","content":"Hi"}],"label":"x"})");
}

// The member at a path of names and indices.
const Json& at(const Json& from, std::initializer_list<const char*> path) {
  static const Json kNothing;
  const Json* now = &from;
  for (const char* step : path) {
    if (now->is_array()) {
      const auto i = static_cast<std::size_t>(std::stoi(step));
      if (i >= now->as_array().size()) return kNothing;
      now = &now->as_array()[i];
    } else {
      now = now->find(step);
    }
    if (now == nullptr) return kNothing;
  }
  return *now;
}

}  // namespace

TEST(SuccessRecord, AChatAnswerHasOpenAisForm) {
  const Json record = Json::parse(success_record(chat(), answer(), origin()));

  const std::string id = at(record, {"id"}).as_string();
  ASSERT_TRUE(id.starts_with("batch_req_"));
  const std::string digits = id.substr(10);
  EXPECT_EQ(
      record.dump(),
      fmt::format(
          R"({{"id":"batch_req_{0}","custom_id":"claim-1","response":{{"status_code":200,)"
          R"("request_id":"req_{0}","body":{{"id":"chatcmpl-{0}","object":"chat.completion",)"
          R"("created":1700000000,"model":"asked","choices":[{{"index":0,"message":)"
          R"({{"role":"assistant","content":"SUPPORTED","refusal":null}},"logprobs":null,)"
          R"("finish_reason":"stop"}}],"usage":{{"prompt_tokens":4,"completion_tokens":3,)"
          R"("total_tokens":7,"prompt_tokens_details":{{"cached_tokens":3}}}}}}}},"error":null,)"
          R"("sticky":{{"file":"claims.jsonl","line":12,"hash":"00000000000000010000000000000002",)"
          R"("state":"default","arithmetic":"cpu-f32","worker":3,"attempts":2,"timings":)"
          R"({{"queued_seconds":0.5,"prefill_seconds":0.25,"decode_seconds":1.5}}}},)"
          R"("row":{{"label":"x"}}}})",
          digits));
}

TEST(SuccessRecord, ACompletionHasTheLegacyFormAndNoRowWhereThereIsNone) {
  const Json record =
      Json::parse(success_record(request_of(R"({"prompt":"Hi"})"), answer(), origin()));

  EXPECT_EQ(at(record, {"response", "body", "object"}).as_string(), "text_completion");
  EXPECT_EQ(at(record, {"response", "body", "model"}).as_string(), "default");
  EXPECT_EQ(at(record, {"response", "body", "choices", "0"}).dump(),
            R"({"index":0,"text":"SUPPORTED","logprobs":null,"finish_reason":"stop"})");
  EXPECT_EQ(record.find("row"), nullptr);
}

TEST(SuccessRecord, EchoPutsThePromptBeforeTheAnswer) {
  const Request r = request_of(R"({"prompt":"Verdict: ","echo":true})");
  const Json record = Json::parse(success_record(r, answer("Verdict: "), origin()));

  EXPECT_EQ(at(record, {"response", "body", "choices", "0", "text"}).as_string(),
            "Verdict: SUPPORTED");
}

TEST(SuccessRecord, SeveralAnswersAreChoicesAndUsageCountsThemAll) {
  Response r = answer("Verdict: ");
  r.answers.push_back({"REFUTED", {12, 2}, "length", {}});
  const Request asked = request_of(R"({"prompt":"Verdict: ","n":2,"echo":true})");
  const Json record = Json::parse(success_record(asked, r, origin()));

  EXPECT_EQ(at(record, {"response", "body", "choices"}).dump(),
            R"([{"index":0,"text":"Verdict: SUPPORTED","logprobs":null,"finish_reason":"stop"},)"
            R"({"index":1,"text":"Verdict: REFUTED","logprobs":null,"finish_reason":"length"}])");
  EXPECT_EQ(at(record, {"response", "body", "usage"}).dump(),
            R"({"prompt_tokens":4,"completion_tokens":5,"total_tokens":9,)"
            R"("prompt_tokens_details":{"cached_tokens":3}})");
}

TEST(SuccessRecord, AChoiceHasTheScoresOfAllInTheRequestsOrder) {
  Response r = answer();
  r.scores = {{"REFUTED", -2.5, 0.25}, {"SUPPORTED", -1.25, 0.75}};
  const Json record = Json::parse(success_record(chat(), r, origin()));

  EXPECT_EQ(at(record, {"response", "body", "choices", "0", "choice_scores"}).dump(),
            R"([{"choice":"REFUTED","logprob":-2.5,"score":0.25},)"
            R"({"choice":"SUPPORTED","logprob":-1.25,"score":0.75}])");
}

// BOS stands for nothing in the text, a tokenizer has put a blank before it, NFC has made one
// character of two, and the euro sign's three bytes come in two tokens.
Response scored() {
  Response r = answer("Zu\u0308rich \u20ac");
  r.prompt.logprobs = {{{1, "<s>", 0.0, {}},
                        {5, " Z", -0.5, {{5, " Z", -0.5, {}, 1}, {6, "a", -1.5, {}, 2}}, 1},
                        {6, "\u00fc", -2.0, {{5, " Z", -0.25, {}, 1}, {7, "b", -1.0, {}, 2}}, 9},
                        {7, "rich", -9999.0, {}, 40},
                        {8, " \xE2\x82", -1.0, {}, 2},
                        {9, "\xAC", -0.125, {}, 1}}};
  return r;
}

TEST(SuccessRecord, EchoWithLogprobsHasThoseOfThePromptBeforeThoseOfTheAnswer) {
  Response r = scored();
  r.answers[0].text = "\u00e4b";
  r.answers[0].logprobs = {
      {{10, "\u00e4", -0.5, {{10, "\u00e4", -0.5, {}}}}, {11, "b", -1.25, {}}}};
  const Request asked = request_of(R"({"prompt":"Z","echo":true,"logprobs":1})");
  const Json record = Json::parse(success_record(asked, r, origin()));

  const Json& logprobs = at(record, {"response", "body", "choices", "0", "logprobs"});
  EXPECT_EQ(at(logprobs, {"tokens"}).dump(),
            "[\"<s>\",\" Z\",\"\u00fc\",\"rich\",\" \uFFFD\",\"\uFFFD\",\"\u00e4\",\"b\"]");
  EXPECT_EQ(at(logprobs, {"token_logprobs"}).dump(),
            "[null,-0.5,-2.0,-9999.0,-1.0,-0.125,-0.5,-1.25]");
  EXPECT_EQ(at(logprobs, {"text_offset"}).dump(), "[0,0,1,3,7,9,9,10]");
  EXPECT_EQ(at(logprobs, {"top_logprobs"}).dump(),
            "[null,{\" Z\":-0.5},{\" Z\":-0.25,\"\u00fc\":-2.0},{\"rich\":-9999.0},"
            "{\" \uFFFD\":-1.0},{\"\uFFFD\":-0.125},{\"\u00e4\":-0.5},{\"b\":-1.25}]");
  EXPECT_EQ(at(record, {"response", "body", "choices", "0", "text"}).as_string(),
            "Zu\u0308rich \u20ac\u00e4b");
  EXPECT_TRUE(at(record, {"response", "body", "choices", "0", "prompt_logprobs"}).is_null());
}

TEST(SuccessRecord, PromptLogprobsStandInVllmsFormWhereVllmHasThem) {
  const Json completion = Json::parse(
      success_record(request_of(R"({"prompt":"Z","prompt_logprobs":1})"), scored(), origin()));
  const Json chat_record = Json::parse(success_record(
      request_of(R"({"messages":[{"role":"user","content":"Hi"}],"prompt_logprobs":2})"), scored(),
      origin()));

  EXPECT_EQ(at(completion, {"response", "body", "choices", "0", "prompt_logprobs"}).dump(),
            "[null,{\"5\":{\"logprob\":-0.5,\"rank\":1,\"decoded_token\":\" Z\"}},"
            "{\"6\":{\"logprob\":-2.0,\"rank\":9,\"decoded_token\":\"\u00fc\"},"
            "\"5\":{\"logprob\":-0.25,\"rank\":1,\"decoded_token\":\" Z\"}},"
            "{\"7\":{\"logprob\":-9999.0,\"rank\":40,\"decoded_token\":\"rich\"}},"
            "{\"8\":{\"logprob\":-1.0,\"rank\":2,\"decoded_token\":\" \uFFFD\"}},"
            "{\"9\":{\"logprob\":-0.125,\"rank\":1,\"decoded_token\":\"\uFFFD\"}}]");
  EXPECT_TRUE(at(completion, {"response", "body", "prompt_logprobs"}).is_null());
  EXPECT_TRUE(at(completion, {"response", "body", "choices", "0", "logprobs"}).is_null());
  const Json& of_chat = at(chat_record, {"response", "body", "prompt_logprobs"});
  ASSERT_EQ(of_chat.as_array().size(), 6U);
  EXPECT_EQ(of_chat.as_array()[2].as_object().size(), 3U);
  EXPECT_TRUE(at(chat_record, {"response", "body", "choices", "0", "prompt_logprobs"}).is_null());
}

TEST(SuccessRecord, TokenIdsStandWhereVllmHasThem) {
  const Request asked =
      request_of(R"({"messages":[{"role":"user","content":"Hi"}],"return_token_ids":true})");
  const Json with = Json::parse(success_record(asked, answer(), origin()));
  const Json without = Json::parse(success_record(chat(), answer(), origin()));

  EXPECT_EQ(at(with, {"response", "body", "choices", "0", "token_ids"}).dump(), "[10,11,2]");
  EXPECT_EQ(at(with, {"response", "body", "choices", "0", "prompt_token_ids"}).dump(), "[1,5,6,7]");
  EXPECT_EQ(at(with, {"response", "body", "prompt_token_ids"}).dump(), "[1,5,6,7]");
  EXPECT_TRUE(at(without, {"response", "body", "choices", "0", "token_ids"}).is_null());
  EXPECT_TRUE(at(without, {"response", "body", "prompt_token_ids"}).is_null());
}

TEST(SuccessRecord, ChatLogprobsGiveTextBytesAndTheBest) {
  Response a = answer();
  a.answers[0].logprobs = {
      {{10, "\xE2\x82", -0.5, {{10, "\xE2\x82", -0.5, {}}, {4, "no", -1.25, {}}}},
       {11, "\xAC", -0.125, {}}}};
  const Json record = Json::parse(success_record(chat(), a, origin()));

  EXPECT_EQ(at(record, {"response", "body", "choices", "0", "logprobs"}).dump(),
            "{\"content\":[{\"token\":\"\xEF\xBF\xBD\",\"logprob\":-0.5,\"bytes\":[226,130],"
            "\"top_logprobs\":[{\"token\":\"\xEF\xBF\xBD\",\"logprob\":-0.5,\"bytes\":[226,130]},"
            "{\"token\":\"no\",\"logprob\":-1.25,\"bytes\":[110,111]}]},"
            "{\"token\":\"\xEF\xBF\xBD\",\"logprob\":-0.125,\"bytes\":[172],\"top_logprobs\":[]}],"
            "\"refusal\":null}");
}

TEST(SuccessRecord, LegacyLogprobsCountCharactersAndHoldTheChosenToken) {
  Response a = answer();
  a.answers[0].text = "€uro";  // the sign's three bytes come in two tokens
  a.answers[0].logprobs = {{{10, "\xE2\x82", -0.5, {{4, "no", -0.25, {}}}},
                            {11, "\xAC", -0.125, {}},
                            {12, "uro", -1.0, {{12, "uro", -1.0, {}}, {13, "uro", -2.0, {}}}},
                            {2, "<|im_end|>", -3.0, {}}}};
  const Json record = Json::parse(success_record(request_of(R"({"prompt":"Hi"})"), a, origin()));

  const Json& logprobs = at(record, {"response", "body", "choices", "0", "logprobs"});
  EXPECT_EQ(at(logprobs, {"tokens"}).dump(),
            "[\"\xEF\xBF\xBD\",\"\xEF\xBF\xBD\",\"uro\",\"<|im_end|>\"]");
  EXPECT_EQ(at(logprobs, {"token_logprobs"}).dump(), "[-0.5,-0.125,-1.0,-3.0]");
  EXPECT_EQ(at(logprobs, {"text_offset"}).dump(), "[0,1,1,4]");
  EXPECT_EQ(at(logprobs, {"top_logprobs"}).dump(),
            "[{\"no\":-0.25,\"\xEF\xBF\xBD\":-0.5},{\"\xEF\xBF\xBD\":-0.125},{\"uro\":-1.0},"
            "{\"<|im_end|>\":-3.0}]");
}

TEST(SuccessRecord, IsAlwaysOneLineOfValidUtf8) {
  Response a = answer();
  a.answers[0].text = "line\nbreak \xFF\xC3 \xED\xA0\x80 end\0null";
  a.answers[0].text += '\0';
  const std::string record = success_record(chat(), a, origin());

  EXPECT_EQ(record.find('\n'), std::string::npos);
  EXPECT_EQ(utf8::first_invalid(record), -1);
  EXPECT_NO_THROW((void)Json::parse(record));
}

TEST(SuccessRecord, TheSameLineAlwaysHasTheSameIds) {
  Origin other = origin();
  other.worker = 9;
  other.created = 5;
  const auto id = [](const Origin& o) {
    return at(Json::parse(success_record(chat(), answer(), o)), {"id"}).as_string();
  };

  EXPECT_EQ(id(origin()), id(other));
  other.line = 13;
  EXPECT_NE(id(origin()), id(other));
}

TEST(ErrorRecord, HasTheOuterFormOfASuccessAndOpenAisErrorObject) {
  const RequestError error{"invalid_request", "'top_p' must be …", "top_p", "claim-1"};
  const Json record =
      Json::parse(error_record(error, origin(), Json::object({{"label", "x"}}), 400));

  EXPECT_EQ(at(record, {"custom_id"}).as_string(), "claim-1");
  EXPECT_EQ(at(record, {"response", "status_code"}).as_integer(), 400);
  EXPECT_EQ(at(record, {"response", "body"}).dump(),
            R"({"error":{"message":"'top_p' must be …","type":"invalid_request_error",)"
            R"("param":"top_p","code":"invalid_request"}})");
  EXPECT_EQ(at(record, {"error"}).dump(),
            R"({"code":"invalid_request","message":"'top_p' must be …","param":"top_p",)"
            R"("file":"claims.jsonl","line":12,"byte_offset":3456})");
  EXPECT_EQ(at(record, {"sticky", "hash"}).as_string(), "00000000000000010000000000000002");
  EXPECT_EQ(at(record, {"row"}).dump(), R"({"label":"x"})");
}

TEST(ErrorRecord, ALineThatNeverWasARequestHasNoResponse) {
  Origin here = origin();
  here.worker = -1;
  here.state.clear();
  const RequestError error{"invalid_json_line", "at byte 3: unexpected end", "", std::nullopt};
  const Json record = Json::parse(error_record(error, here, Json(), 0));

  ASSERT_NE(record.find("response"), nullptr);
  EXPECT_TRUE(record.find("response")->is_null());
  EXPECT_TRUE(at(record, {"error"}).find("param")->is_null());
  EXPECT_TRUE(at(record, {"sticky"}).find("state")->is_null());
  EXPECT_EQ(record.find("row"), nullptr);
}

TEST(StatusCodeOf, TellsTheRequestsFaultFromOurs) {
  for (const char* code : {"invalid_json_line", "duplicate_custom_id", "model_mismatch",
                           "url_mismatch", "context_length_exceeded", "invalid_request"})
    EXPECT_EQ(status_code_of(code), 400) << code;
  EXPECT_EQ(status_code_of("worker_lost"), 500);
}

}  // namespace sticky::request
