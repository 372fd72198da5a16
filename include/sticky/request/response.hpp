#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/hash.hpp"
#include "sticky/base/json.hpp"
#include "sticky/request/request.hpp"

namespace sticky::request {

struct TokenLogprob {
  i32 id = 0;
  std::string piece;  ///< bytes of the token; may be part of a character
  double logprob = 0.0;
  std::vector<TokenLogprob> top;  ///< best first; empty inside `top`
  i64 rank = 0;  ///< of a prompt's tokens: how many of the vocabulary are no less probable
};

/// One answer of a model, before it is written as JSON.
struct Answer {
  std::string text;
  std::vector<i32> token_ids;  ///< with the ending EOS or stop token
  std::string finish_reason;   ///< "stop" | "length"
  std::optional<std::vector<TokenLogprob>> logprobs;
};

/// What is told of a request's prompt.
struct PromptReport {
  std::string text;  ///< what echo repeats
  std::vector<i32> token_ids;
  i64 cached_tokens = 0;  ///< found in the prefix cache
  /// Of each token, where asked for. The first has none: its logprob says nothing.
  std::optional<std::vector<TokenLogprob>> logprobs;
};

/// How probable one of the texts is that an answer may be.
struct ChoiceScore {
  std::string text;
  double logprob = 0.0;  ///< of all its tokens, behind the prompt
  double score = 0.0;    ///< its share of the probabilities of all: they add up to 1
};

/// All that a model says to one request.
struct Response {
  PromptReport prompt;
  std::vector<Answer> answers;           ///< by index; at least one
  std::vector<ChoiceScore> scores = {};  ///< in the request's order, where it brings choices
};

/// Where a request stands and who answered it.
struct Origin {
  std::string custom_id;
  std::string file;
  i64 line = 0;         ///< physical line, from 1
  i64 byte_offset = 0;  ///< of the line's first byte in the (unpacked) file
  Hash128 hash;         ///< of canonical_request()
  std::string state;
  std::string arithmetic;
  i64 worker = -1;  ///< -1: the coordinator itself
  i64 attempts = 1;
  double queued_seconds = 0.0;  ///< on the worker, before its first token was computed
  double prefill_seconds = 0.0;
  double decode_seconds = 0.0;
  i64 created = 0;  ///< Unix seconds
};

/// One line of results.jsonl, without the newline: the form of OpenAI's batch output, whose body is
/// a chat.completion or text_completion object, with "sticky" and "row" beside
/// (docs/input_output.md). Text is valid UTF-8 whatever the answers hold. Legacy logprobs count
/// text_offset in characters of the choice's text; top_logprobs holds the chosen token too.
[[nodiscard]] std::string success_record(const Request& request,
                                         const Response& response,
                                         const Origin& origin);

/// One line of errors.jsonl, without the newline: the same outer form, `error` filled. `row`:
/// row_of() the line, or null. `status_code` 0: the response is null, for a line that never was a
/// request.
[[nodiscard]] std::string error_record(const RequestError& error,
                                       const Origin& origin,
                                       const Json& row,
                                       int status_code);

/// 400 for a request at fault, 500 for one that failed here.
[[nodiscard]] int status_code_of(std::string_view code);

}  // namespace sticky::request
