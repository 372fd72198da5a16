#include <algorithm>

#include <fmt/format.h>

#include "sticky/base/utf8.hpp"
#include "sticky/request/response.hpp"

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

// OpenAI's form for chat: the token as text and as the bytes it stands for.
Json chat_token(const TokenLogprob& token) {
  Json::Array bytes;
  for (const char c : token.piece)
    bytes.emplace_back(i64{static_cast<unsigned char>(c)});
  return Json::object({{"token", utf8::sanitize(token.piece)},
                       {"logprob", token.logprob},
                       {"bytes", std::move(bytes)}});
}

Json chat_logprobs(const std::vector<TokenLogprob>& tokens) {
  Json::Array content;
  for (const TokenLogprob& token : tokens) {
    Json entry = chat_token(token);
    Json::Array top;
    for (const TokenLogprob& other : token.top)
      top.push_back(chat_token(other));
    entry.set("top_logprobs", std::move(top));
    content.push_back(std::move(entry));
  }
  return Json::object({{"content", std::move(content)}, {"refusal", Json()}});
}

i64 n_characters(std::string_view text) {
  constexpr unsigned kContinuationMask = 0xC0;
  constexpr unsigned kContinuation = 0x80;
  return std::ranges::count_if(text, [](char c) {
    return (static_cast<unsigned char>(c) & kContinuationMask) != kContinuation;
  });
}

// OpenAI's legacy form. top_logprobs holds the chosen token too, so up to one more than asked for;
// of tokens that read alike the best is kept. Offsets count characters of the answer.
Json legacy_logprobs(const std::vector<TokenLogprob>& tokens, std::string_view text) {
  Json::Array pieces, logprobs, tops, offsets;
  const i64 end = n_characters(text);
  i64 offset = 0;
  for (const TokenLogprob& token : tokens) {
    pieces.emplace_back(utf8::sanitize(token.piece));
    logprobs.emplace_back(token.logprob);
    Json top = Json::object();
    for (const TokenLogprob& other : token.top) {
      const std::string name = utf8::sanitize(other.piece);
      if (top.find(name) == nullptr) top.set(name, other.logprob);
    }
    const std::string chosen = utf8::sanitize(token.piece);
    if (top.find(chosen) == nullptr) top.set(chosen, token.logprob);
    tops.push_back(std::move(top));
    offsets.emplace_back(std::min(offset, end));
    offset += n_characters(token.piece);
  }
  return Json::object({{"tokens", std::move(pieces)},
                       {"token_logprobs", std::move(logprobs)},
                       {"top_logprobs", std::move(tops)},
                       {"text_offset", std::move(offsets)}});
}

Json usage(const Answer& answer) {
  const auto n_prompt = static_cast<i64>(answer.prompt_token_ids.size());
  const auto n_completion = static_cast<i64>(answer.token_ids.size());
  return Json::object(
      {{"prompt_tokens", n_prompt},
       {"completion_tokens", n_completion},
       {"total_tokens", n_prompt + n_completion},
       {"prompt_tokens_details", Json::object({{"cached_tokens", answer.cached_tokens}})}});
}

Json choice(const Request& request, const Answer& answer) {
  const bool is_chat = request.endpoint == Endpoint::chat;
  Json out = Json::object({{"index", 0}});
  if (is_chat) {
    out.set("message", Json::object({{"role", "assistant"},
                                     {"content", utf8::sanitize(answer.text)},
                                     {"refusal", Json()}}));
  } else {
    const auto* prompt = std::get_if<std::string>(&request.prompt);
    const bool has_echo = request.echo && prompt != nullptr;
    out.set("text", utf8::sanitize(has_echo ? *prompt + answer.text : answer.text));
  }
  Json logprobs;
  if (answer.logprobs)
    logprobs =
        is_chat ? chat_logprobs(*answer.logprobs) : legacy_logprobs(*answer.logprobs, answer.text);
  out.set("logprobs", std::move(logprobs));
  out.set("finish_reason", answer.finish_reason);
  if (request.return_token_ids) {
    out.set("token_ids", ids_array(answer.token_ids));
    out.set("prompt_token_ids", ids_array(answer.prompt_token_ids));
  }
  return out;
}

Json body(const Request& request, const Answer& answer, const Origin& origin) {
  const bool is_chat = request.endpoint == Endpoint::chat;
  Json out = Json::object({{"id", (is_chat ? "chatcmpl-" : "cmpl-") + record_digits(origin)},
                           {"object", is_chat ? "chat.completion" : "text_completion"},
                           {"created", origin.created},
                           {"model", request.model.value_or(origin.state)},
                           {"choices", Json::array({choice(request, answer)})},
                           {"usage", usage(answer)}});
  // vLLM has them here for chat, within the choice for completions.
  if (is_chat && request.return_token_ids)
    out.set("prompt_token_ids", ids_array(answer.prompt_token_ids));
  return out;
}

}  // namespace

std::string success_record(const Request& request, const Answer& answer, const Origin& origin) {
  const std::string digits = record_digits(origin);
  Json record = Json::object({{"id", "batch_req_" + digits},
                              {"custom_id", origin.custom_id},
                              {"response", Json::object({{"status_code", 200},
                                                         {"request_id", "req_" + digits},
                                                         {"body", body(request, answer, origin)}})},
                              {"error", Json()},
                              {"sticky", sticky_part(origin, true)}});
  if (!request.row.is_null()) record.set("row", request.row);
  return record.dump();
}

}  // namespace sticky::request
