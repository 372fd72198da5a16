#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sticky/base/json.hpp"
#include "sticky/request/sampling.hpp"

namespace sticky::request {

enum class Endpoint { chat, completions };

inline constexpr i64 kMaxAnswers = 128;               ///< of one request (n)
inline constexpr i64 kMaxChoices = 256;               ///< that an answer may be
inline constexpr std::size_t kMaxChoiceBytes = 4096;  ///< of one

/// One input line, understood and range-checked. What follows needs no further doubt about its
/// values, except what only the model knows (number of tokens, vocabulary).
struct Request {
  Endpoint endpoint = Endpoint::chat;
  std::optional<std::string> custom_id;  ///< none: the caller names it FILE:LINE
  std::optional<std::string> model;      ///< as asked for; the answer repeats it

  Json messages;                                       ///< chat
  std::variant<std::string, std::vector<i32>> prompt;  ///< completions
  bool add_special_tokens = true;                      ///< completions
  bool add_generation_prompt = true;                   ///< chat
  Json tools;                                          ///< chat; null when not given
  Json template_kwargs;                                ///< chat_template_kwargs: object or null

  Sampling sampling;
  i64 n = 1;                        ///< answers
  std::vector<std::string> choice;  ///< not empty: the answer is the most probable of these
  bool return_token_ids = false;
  bool echo = false;         ///< completions: the prompt stands before the answer
  i64 prompt_logprobs = -1;  ///< -1: none; n: of each token of the prompt, and of the n best
  Json row;                  ///< row_of() the line
};

/// How many of the best tokens are wanted beside each token of the prompt; -1: the prompt's log
/// probabilities are not wanted. Echo repeats them with the prompt.
[[nodiscard]] i64 n_top_of_prompt(const Request& request);

/// What is wrong with a line: OpenAI's code where there is one, and the parameter at fault.
struct RequestError {
  std::string code;                      ///< invalid_json_line, url_mismatch, invalid_request, …
  std::string message;                   ///< a sentence: what was found, what was expected
  std::string param;                     ///< empty: the line as a whole
  std::optional<std::string> custom_id;  ///< as far as the line could be read
};

/// Understands an OpenAI batch line ({"custom_id","method","url","body"}) or a shorthand line
/// ({"prompt"} or {"messages"} with parameters beside). A line with "prompt" or "messages" is
/// shorthand, whatever columns it has, unless "url" and an object "body" are both there.
/// `defaults`: what a parameter is when the line does not say or says null; a completion that
/// neither says has 16 tokens (OpenAI). Parameters that cannot change an answer (user, metadata, …)
/// pass; those that would and are not offered, and unknown names in a body, are invalid_request.
[[nodiscard]] std::variant<Request, RequestError> parse_request(const Json& line,
                                                                const Sampling& defaults);

/// The part of a line that decides its answer, written in one canonical way (names sorted): all but
/// its id, columns, parameters that are null and those that cannot change an answer. The same
/// request has the same text as batch line and as shorthand. Its hash tells on resume whether a
/// request has changed; defaults of the job are no part of it.
[[nodiscard]] std::string canonical_request(const Json& line);

/// The id of a line as it stands ("custom_id" or "id"), if it is a string and not empty.
[[nodiscard]] std::optional<std::string> id_of(const Json& line);

/// The model a line asks for, if it is a string and not empty.
[[nodiscard]] std::optional<std::string> model_of(const Json& line);

/// What a line holds beside its id and its request, to be repeated in its record: an object, or
/// null when there is nothing (or the line is no object).
[[nodiscard]] Json row_of(const Json& line);

}  // namespace sticky::request
