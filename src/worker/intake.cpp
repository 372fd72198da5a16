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
  if (auto error = objection(request, prompt.token_ids))
    return Rejected{std::move(*error), request.row};
  return Accepted{std::move(request), std::move(prompt)};
}

// Whatever a text does to the template or the tokenizer (a limit of a pattern, of memory) is the
// request's own fault, and no reason for the worker to end.
std::variant<Prompt, RequestError> Intake::make_prompt(const request::Request& request) const {
  try {
    return prompts_->make(request, prompts_->most_bytes_of(limits_.context));
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
  if (n_prompt + 1 > limits_.context)
    return make_error(
        "context_length_exceeded",
        fmt::format("the prompt has {}, and with one for the answer at most {} fit (state.context)",
                    counted(n_prompt, "token"), limits_.context),
        prompt_param);
  return std::nullopt;
}

bool is_served(const StateOptions& state, std::string_view model) {
  std::filesystem::path path(state.model);
  if (path.filename().empty()) path = path.parent_path();  // "folder/"
  return model == state.name || std::ranges::find(state.serves, model) != state.serves.end() ||
         std::filesystem::path(model).filename() == path.filename();
}

}  // namespace sticky::worker
