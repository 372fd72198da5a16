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
};

/// One answer of a model, before it is written as JSON.
struct Answer {
  std::string text;
  std::vector<i32> token_ids;  ///< with the ending EOS or stop token
  std::string finish_reason;   ///< "stop" | "length"
  std::optional<std::vector<TokenLogprob>> logprobs;
  std::vector<i32> prompt_token_ids;
  i64 cached_tokens = 0;  ///< of the prompt, found in the prefix cache
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
/// (docs/input_output.md). Text is valid UTF-8 whatever the answer holds. Legacy logprobs count
/// text_offset in characters of the answer; top_logprobs holds the chosen token too.
[[nodiscard]] std::string success_record(const Request& request,
                                         const Answer& answer,
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
