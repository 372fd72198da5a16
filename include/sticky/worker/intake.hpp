#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "sticky/base/json.hpp"
#include "sticky/request/request.hpp"
#include "sticky/worker/prompt.hpp"

namespace sticky::worker {

/// A request that an engine can take as it is.
struct Accepted {
  request::Request request;
  Prompt prompt;
};

/// A line that cannot be answered, and why.
struct Rejected {
  request::RequestError error;
  Json row;  ///< its other columns, as far as it could be read
};

/// What only the model knows of a request.
struct IntakeLimits {
  i64 vocab = 0;    ///< rows of the embedding
  i64 context = 0;  ///< tokens of one sequence
};

/// Whether a request that asks for `model` means this state: by its name, its list of other names,
/// or the last part of its model's path.
[[nodiscard]] bool is_served(const StateOptions& state, std::string_view model);

/// Turns an input line into a prompt, or into the reason why not: JSON, parameters, chat template,
/// tokens, limits, in this order. `check` and the workers share it, so that they never disagree.
/// Immutable.
class Intake {
 public:
  /// `prompts` outlives this. A longer max_tokens than the context leaves room for is no error: the
  /// text ends with finish_reason "length".
  Intake(const PromptMaker& prompts, const Options& options, const IntakeLimits& limits);

  [[nodiscard]] std::variant<Accepted, Rejected> accept(std::string_view line) const;

 private:
  [[nodiscard]] std::variant<Prompt, request::RequestError> make_prompt(
      const request::Request& request) const;
  [[nodiscard]] std::optional<request::RequestError> objection(
      const request::Request& request, const std::vector<i32>& token_ids) const;

  const PromptMaker* prompts_;
  request::Sampling defaults_;
  StateOptions state_;
  bool check_model_;
  IntakeLimits limits_;
};

}  // namespace sticky::worker
