#include "sticky/worker/intake.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "sticky/base/counted.hpp"
#include "sticky/base/error.hpp"

namespace sticky::worker {

namespace {

using request::RequestError;

RequestError make_error(std::string code, std::string message, std::string param) {
  return {.code = std::move(code),
          .message = std::move(message),
          .param = std::move(param),
          .custom_id = {}};
}

const char* prompt_param_of(const request::Request& request) {
  return request.endpoint == request::Endpoint::chat ? "messages" : "prompt";
}

// The first id that the embedding has no row for, if any.
const i32* first_outside(const std::vector<i32>& ids, i64 vocab) {
  const auto at = std::ranges::find_if(ids, [&](i32 id) { return id < 0 || id >= vocab; });
  return at != ids.end() ? &*at : nullptr;
}

// Log probabilities of one request, some 100 MB while they are held: a short line must not ask for
// gigabytes.
constexpr i64 kMostLogprobs = i64{1} << 20;
// Each choice is a sequence of its own, and so is each of several answers, with its stop strings
// and biases: of what is held once for each, bytes at most.
constexpr i64 kMostChoiceTokens = i64{1} << 20;
constexpr i64 kMostRepeatedBytes = i64{16} << 20;

std::optional<RequestError> objection_to_choices(const request::Request& request,
                                                 const Prompt& prompt,
                                                 const IntakeLimits& limits) {
  i64 n_logprobs = 0;
  i64 n_tokens = 0;
  for (std::size_t i = 0; i < prompt.choices.size(); ++i) {
    const auto& ids = prompt.choices[i];
    const std::string place = fmt::format("choice[{}]", i);
    if (const i32* id = first_outside(ids, limits.vocab))
      return make_error("invalid_request",
                        fmt::format("this choice has the token id {}, which is outside the model's "
                                    "vocabulary of {}",
                                    *id, limits.vocab),
                        place);
    if (std::ssize(ids) > limits.context)
      return make_error(
          "context_length_exceeded",
          fmt::format("the prompt has {} with this choice, and at most {} fit (state.context)",
                      counted(std::ssize(ids), "token"), limits.context),
          place);
    n_tokens += std::ssize(ids);
    n_logprobs +=
        (std::ssize(ids) - prompt.n_shared) * (1 + std::max<i64>(0, request.sampling.top_logprobs));
  }
  if (n_tokens > kMostChoiceTokens)
    return make_error("invalid_request",
                      fmt::format("the choices with the prompt before each have {} together; at "
                                  "most {} are possible",
                                  counted(n_tokens, "token"), kMostChoiceTokens),
                      "choice");
  if (n_logprobs <= kMostLogprobs) return std::nullopt;
  return make_error("invalid_request",
                    fmt::format("the choices have {} log probabilities together, those asked for "
                                "beside them included; at most {} are possible",
                                n_logprobs, kMostLogprobs),
                    "choice");
}

// Several answers repeat the prompt's log probabilities, and have many of their own.
std::optional<RequestError> objection_to_number(const request::Request& request,
                                                i64 n_prompt,
                                                i64 context) {
  if (request.n == 1) return std::nullopt;
  const i64 n_new = std::min(request.sampling.max_tokens.value_or(context), context - n_prompt);
  const i64 n_logprobs = request.n * (n_new * (1 + request.sampling.top_logprobs) +
                                      n_prompt * (1 + request::n_top_of_prompt(request)));
  if (n_logprobs <= kMostLogprobs) return std::nullopt;
  return make_error("invalid_request",
                    fmt::format("'n' is {}, which with the log probabilities asked for makes up to "
                                "{} of them in one record; at most {} are possible",
                                request.n, n_logprobs, kMostLogprobs),
                    "n");
}

// What stands once for each answer, while they are made or in the record.
std::optional<RequestError> objection_to_repeats(const request::Request& request,
                                                 const Prompt& prompt) {
  constexpr i64 kBytesOfBias = 16;
  constexpr i64 kBytesOfId = 8;
  i64 n_bytes = kBytesOfBias * std::ssize(request.sampling.logit_bias);
  for (const std::string& stop : request.sampling.stop)
    n_bytes += std::ssize(stop);
  if (request.echo) n_bytes += std::ssize(prompt.text);
  if (request.return_token_ids) n_bytes += kBytesOfId * std::ssize(prompt.token_ids);
  if (request.n == 1 || n_bytes <= kMostRepeatedBytes / request.n) return std::nullopt;
  return make_error("invalid_request",
                    fmt::format("'n' is {}, and stop strings, biases and the prompt where it is "
                                "repeated have {} bytes for each answer; {} in all are possible",
                                request.n, n_bytes, kMostRepeatedBytes),
                    "n");
}

}  // namespace

Intake::Intake(const PromptMaker& prompts, const Options& options, const IntakeLimits& limits)
    : prompts_(&prompts),
      defaults_(options.sampling),
      state_(options.state),
      check_model_(options.check_model),
      limits_(limits) {}

std::variant<Accepted, Rejected> Intake::accept(std::string_view line) const {
  Json json;
  try {
    json = Json::parse(line);
  } catch (const FormatError& error) {
    return Rejected{make_error("invalid_json_line", error.what(), ""), Json()};
  }
  auto parsed = request::parse_request(json, defaults_);
  if (auto* error = std::get_if<RequestError>(&parsed))
    return Rejected{std::move(*error), request::row_of(json)};
  auto& request = std::get<request::Request>(parsed);
  auto made = make_prompt(request);
  if (auto* error = std::get_if<RequestError>(&made))
    return Rejected{std::move(*error), request.row};
  auto& prompt = std::get<Prompt>(made);
  auto error = objection(request, prompt.token_ids);
  if (!error) error = objection_to_choices(request, prompt, limits_);
  if (!error) error = objection_to_repeats(request, prompt);
  if (error) return Rejected{std::move(*error), request.row};
  return Accepted{std::move(request), std::move(prompt)};
}

// Whatever a text does to the template or the tokenizer (a limit of a pattern, of memory) is the
// request's own fault, and no reason for the worker to end.
std::variant<Prompt, RequestError> Intake::make_prompt(const request::Request& request) const {
  try {
    return prompts_->make(request, limits_.context);
  } catch (const std::exception& error) {
    return make_error("invalid_request", fmt::format("the prompt cannot be made: {}", error.what()),
                      prompt_param_of(request));
  }
}

std::optional<RequestError> Intake::objection(const request::Request& request,
                                              const std::vector<i32>& token_ids) const {
  if (check_model_ && request.model && !is_served(state_, *request.model))
    return make_error(
        "model_mismatch",
        fmt::format("the model \"{}\" is not served here: this run's state is \"{}\" ({})",
                    *request.model, state_.name, state_.model),
        "model");
  const char* prompt_param = prompt_param_of(request);
  if (token_ids.empty())
    return make_error("invalid_request", "the prompt has no tokens: at least one is needed",
                      prompt_param);
  if (const i32* id = first_outside(token_ids, limits_.vocab))
    return make_error(
        "invalid_request",
        fmt::format("token id {} is outside the model's vocabulary of {}", *id, limits_.vocab),
        prompt_param);
  if (const i32* id = first_outside(request.sampling.stop_token_ids, limits_.vocab))
    return make_error(
        "invalid_request",
        fmt::format("token id {} is outside the model's vocabulary of {}", *id, limits_.vocab),
        "stop_token_ids");
  for (const auto& [id, bias] : request.sampling.logit_bias) {
    if (first_outside({id}, limits_.vocab) != nullptr)
      return make_error(
          "invalid_request",
          fmt::format("token id {} is outside the model's vocabulary of {}", id, limits_.vocab),
          "logit_bias");
  }
  const i64 n_prompt = static_cast<i64>(token_ids.size());
  const bool is_answered = request.sampling.max_tokens != 0;
  if (n_prompt + (is_answered ? 1 : 0) > limits_.context)
    return make_error(
        "context_length_exceeded",
        fmt::format("the prompt has {}, and {} at most {} fit (state.context)",
                    counted(n_prompt, "token"),
                    is_answered ? "with one for the answer" : "without an answer", limits_.context),
        prompt_param);
  return objection_to_number(request, n_prompt, limits_.context);
}

bool is_served(const StateOptions& state, std::string_view model) {
  std::filesystem::path path(state.model);
  if (path.filename().empty()) path = path.parent_path();  // "folder/"
  return model == state.name || std::ranges::find(state.serves, model) != state.serves.end() ||
         std::filesystem::path(model).filename() == path.filename();
}

}  // namespace sticky::worker
