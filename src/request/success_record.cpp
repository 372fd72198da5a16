#include <utility>

#include "sticky/base/utf8.hpp"
#include "sticky/request/response.hpp"

#include "record_logprobs.hpp"
#include "record_parts.hpp"

namespace sticky::request {

namespace {

Json ids_array(const std::vector<i32>& ids) {
  Json::Array out;
  out.reserve(ids.size());
  for (const i32 id : ids)
    out.emplace_back(i64{id});
  return out;
}

Json usage(const Response& response) {
  const auto n_prompt = static_cast<i64>(response.prompt.token_ids.size());
  i64 n_completion = 0;
  for (const Answer& answer : response.answers)
    n_completion += static_cast<i64>(answer.token_ids.size());
  return Json::object({{"prompt_tokens", n_prompt},
                       {"completion_tokens", n_completion},
                       {"total_tokens", n_prompt + n_completion},
                       {"prompt_tokens_details",
                        Json::object({{"cached_tokens", response.prompt.cached_tokens}})}});
}

// Of tokens that a text has: with max_tokens 0 an echo has its prompt's alone.
Json logprobs_of(const Request& request, const PromptReport& prompt, const Answer& answer) {
  if (!answer.logprobs) return {};
  if (request.endpoint == Endpoint::chat) return chat_logprobs(*answer.logprobs);
  LegacyLogprobs legacy;
  if (request.echo && prompt.logprobs)
    legacy.add_prompt(*prompt.logprobs, request.sampling.top_logprobs, prompt.text);
  legacy.add_answer(*answer.logprobs, answer.text);
  return legacy.take();
}

Json choice_scores(const std::vector<ChoiceScore>& scores) {
  Json::Array out;
  for (const ChoiceScore& one : scores)
    out.push_back(
        Json::object({{"choice", one.text}, {"logprob", one.logprob}, {"score", one.score}}));
  return out;
}

Json choice(const Request& request, const Response& response, std::size_t index) {
  const bool is_chat = request.endpoint == Endpoint::chat;
  const PromptReport& prompt = response.prompt;
  const Answer& answer = response.answers[index];
  Json out = Json::object({{"index", static_cast<i64>(index)}});
  if (is_chat) {
    out.set("message", Json::object({{"role", "assistant"},
                                     {"content", utf8::sanitize(answer.text)},
                                     {"refusal", Json()}}));
  } else {
    out.set("text", utf8::sanitize(request.echo ? prompt.text + answer.text : answer.text));
  }
  out.set("logprobs", logprobs_of(request, prompt, answer));
  out.set("finish_reason", answer.finish_reason);
  if (request.return_token_ids) {
    out.set("token_ids", ids_array(answer.token_ids));
    out.set("prompt_token_ids", ids_array(prompt.token_ids));
  }
  if (!response.scores.empty()) out.set("choice_scores", choice_scores(response.scores));
  if (!is_chat && request.prompt_logprobs >= 0 && prompt.logprobs)
    out.set("prompt_logprobs", prompt_logprobs(*prompt.logprobs, request.prompt_logprobs));
  return out;
}

Json body(const Request& request, const Response& response, const Origin& origin) {
  const bool is_chat = request.endpoint == Endpoint::chat;
  Json::Array choices;
  for (std::size_t i = 0; i < response.answers.size(); ++i)
    choices.push_back(choice(request, response, i));
  Json out = Json::object({{"id", (is_chat ? "chatcmpl-" : "cmpl-") + record_digits(origin)},
                           {"object", is_chat ? "chat.completion" : "text_completion"},
                           {"created", origin.created},
                           {"model", request.model.value_or(origin.state)},
                           {"choices", std::move(choices)},
                           {"usage", usage(response)}});
  // vLLM has these here for chat, within the choice for completions.
  const PromptReport& prompt = response.prompt;
  if (is_chat && request.prompt_logprobs >= 0 && prompt.logprobs)
    out.set("prompt_logprobs", prompt_logprobs(*prompt.logprobs, request.prompt_logprobs));
  if (is_chat && request.return_token_ids) out.set("prompt_token_ids", ids_array(prompt.token_ids));
  return out;
}

}  // namespace

std::string success_record(const Request& request, const Response& response, const Origin& origin) {
  const std::string digits = record_digits(origin);
  Json record =
      Json::object({{"id", "batch_req_" + digits},
                    {"custom_id", origin.custom_id},
                    {"response", Json::object({{"status_code", 200},
                                               {"request_id", "req_" + digits},
                                               {"body", body(request, response, origin)}})},
                    {"error", Json()},
                    {"sticky", sticky_part(origin, true)}});
  if (!request.row.is_null()) record.set("row", request.row);
  return record.dump();
}

}  // namespace sticky::request
