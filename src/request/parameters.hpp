#pragma once

#include <span>
#include <string_view>

#include "sticky/base/json.hpp"
#include "sticky/request/request.hpp"

namespace sticky::request {

/// What is done with a parameter of a request's body.
enum class Use {
  read,     ///< its value enters the Request
  fixed,    ///< would change the answer and is not offered: only `accepted` (or null) passes
  ignored,  ///< cannot change the answer: passes, and is no part of the request's hash
};

/// One name that a body may hold. Names are those of OpenAI's API reference and of vLLM's
/// additions to it.
struct Parameter {
  std::string_view name;
  Use use = Use::read;
  bool chat = true;
  bool completions = true;
  /// Whether the name means the parameter on a shorthand line too; else it is a column there.
  bool shorthand = true;
  std::string_view accepted = "null";  ///< fixed: JSON of the one value that passes
  std::string_view hint = "is not supported";
};

[[nodiscard]] std::span<const Parameter> all_parameters();
/// Null when no parameter bears that name.
[[nodiscard]] const Parameter* find_parameter(std::string_view name);
/// The parameter of that endpoint whose name needs the fewest changed letters; empty when none is
/// near.
[[nodiscard]] std::string_view nearest_parameter(std::string_view name, Endpoint endpoint);

/// The most that logprobs, top_logprobs and prompt_logprobs may ask for.
inline constexpr i64 kMaxTopLogprobs = 20;

/// Sampling parameters of a body over `defaults`, each checked against its domain. Refuses.
[[nodiscard]] Sampling read_sampling(const Json& body, const Sampling& defaults, Endpoint endpoint);

/// The texts that the answer may be (Request::choice), where the body brings any. Refuses what
/// could not be told apart, and parameters beside it that would then do nothing.
void read_choice(const Json& body, Request& out);

/// Member of that name, unless it is missing or null: null means "not given", as at OpenAI's.
[[nodiscard]] const Json* given(const Json& body, std::string_view name);

}  // namespace sticky::request
