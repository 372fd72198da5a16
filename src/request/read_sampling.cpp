#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "sticky/base/counted.hpp"

#include "parameters.hpp"
#include "refusal.hpp"

namespace sticky::request {

namespace {

constexpr i64 kMax = std::numeric_limits<i64>::max();

struct NumberRule {
  std::string_view name;
  double Sampling::*field;
  double low;
  double high;
  bool above_low = false;  ///< low itself is outside
};

// OpenAI's API reference; top_k, min_p and repetition_penalty as vLLM has them.
constexpr std::array kNumbers = {
    NumberRule{"temperature", &Sampling::temperature, 0.0, 2.0},
    NumberRule{"top_p", &Sampling::top_p, 0.0, 1.0, true},
    NumberRule{"min_p", &Sampling::min_p, 0.0, 1.0},
    NumberRule{"repetition_penalty", &Sampling::repetition_penalty, 0.0, 1e6, true},
    NumberRule{"presence_penalty", &Sampling::presence_penalty, -2.0, 2.0},
    NumberRule{"frequency_penalty", &Sampling::frequency_penalty, -2.0, 2.0},
};

void read_numbers(const Json& body, Sampling& out) {
  for (const NumberRule& rule : kNumbers) {
    const Json* value = given(body, rule.name);
    if (value == nullptr) continue;
    const double x = number_at(rule.name, *value);
    if (x < rule.low || x > rule.high || (rule.above_low && x == rule.low))
      refuse(rule.name, "must be {} {} and at most {}, found {}",
             rule.above_low ? "above" : "at least", rule.low, rule.high, shown(*value));
    out.*rule.field = x;
  }
  if (const Json* top_k = given(body, "top_k"))
    out.top_k = std::max<i64>(0, integer_at("top_k", *top_k, -1, kMax));  // -1 says "off" too
  if (const Json* seed = given(body, "seed"))
    out.seed = integer_at("seed", *seed, std::numeric_limits<i64>::min(), kMax);
}

void read_lengths(const Json& body, Sampling& out) {
  const Json* most = given(body, "max_tokens");
  const Json* most_new_name = given(body, "max_completion_tokens");
  if (most != nullptr) out.max_tokens = integer_at("max_tokens", *most, 0, kMax);
  if (most_new_name != nullptr) {
    const i64 n = integer_at("max_completion_tokens", *most_new_name, 0, kMax);
    if (most != nullptr && out.max_tokens != n)
      refuse("max_completion_tokens", "is {} but its older name max_tokens is {}: give one of them",
             n, *out.max_tokens);
    out.max_tokens = n;
  }
  const Json* least = given(body, "min_tokens");
  if (least != nullptr) out.min_tokens = integer_at("min_tokens", *least, 0, kMax);
  if (out.max_tokens == 0 && least == nullptr) out.min_tokens = 0;  // the job's is for answers
  if (out.max_tokens && out.min_tokens > *out.max_tokens)
    refuse(least != nullptr ? "min_tokens" : "max_tokens",
           "contradicts the other bound: at least {} asked for, but at most {}",
           counted(out.min_tokens, "token"), *out.max_tokens);
  if (const Json* ignore_eos = given(body, "ignore_eos"))
    out.ignore_eos = boolean_at("ignore_eos", *ignore_eos);
}

std::string stop_string(std::string_view place, const Json& value) {
  const std::string& text = string_at(place, value);
  if (text.empty()) refuse(place, "must not be empty: every text would end at once");
  if (text.size() > kMaxStopBytes)
    refuse(place, "must be at most {} bytes long, found {}", kMaxStopBytes, text.size());
  return text;
}

void read_stops(const Json& body, Sampling& out) {
  if (const Json* stop = given(body, "stop")) {
    out.stop.clear();
    if (stop->is_string()) {
      out.stop.push_back(stop_string("stop", *stop));
    } else {
      if (!stop->is_array())
        refuse("stop", "must be a string or an array of strings, found {}", shown(*stop));
      const auto& list = stop->as_array();
      if (list.size() > kMaxStops)
        refuse("stop", "must hold at most {} strings, found {}", kMaxStops, list.size());
      for (std::size_t i = 0; i < list.size(); ++i)
        out.stop.push_back(stop_string(fmt::format("stop[{}]", i), list[i]));
    }
  }
  if (const Json* ids = given(body, "stop_token_ids")) {
    const auto& list = array_at("stop_token_ids", *ids);
    if (list.size() > kMaxStopTokenIds)
      refuse("stop_token_ids", "must hold at most {} ids, found {}", kMaxStopTokenIds, list.size());
    out.stop_token_ids.clear();
    for (std::size_t i = 0; i < list.size(); ++i)
      out.stop_token_ids.push_back(token_id_at(fmt::format("stop_token_ids[{}]", i), list[i]));
  }
  if (const Json* include = given(body, "include_stop_str_in_output"))
    out.include_stop_str_in_output = boolean_at("include_stop_str_in_output", *include);
}

// Chat: a boolean, and top_logprobs beside it. Completions: the number itself (OpenAI's legacy
// form), or as chat has it.
void read_logprobs(const Json& body, Endpoint endpoint, Sampling& out) {
  const Json* logprobs = given(body, "logprobs");
  const Json* top = given(body, "top_logprobs");
  if (logprobs != nullptr && !logprobs->is_bool()) {
    if (endpoint == Endpoint::chat) (void)boolean_at("logprobs", *logprobs);
    if (top != nullptr)
      refuse("top_logprobs", "must not stand beside logprobs as a number ({})", shown(*logprobs));
    out.top_logprobs = integer_at("logprobs", *logprobs, 0, kMaxTopLogprobs);
    return;
  }
  if (logprobs != nullptr) {
    const i64 default_top = std::max<i64>(0, out.top_logprobs);
    out.top_logprobs = logprobs->as_bool() ? default_top : -1;
  }
  if (top == nullptr) return;
  const i64 n = integer_at("top_logprobs", *top, 0, kMaxTopLogprobs);
  if (out.top_logprobs < 0 && n > 0) refuse("top_logprobs", "is {}, but logprobs is not true", n);
  if (out.top_logprobs >= 0) out.top_logprobs = n;
}

void read_logit_bias(const Json& body, Sampling& out) {
  constexpr double kMaxBias = 100.0;
  const Json* biases = given(body, "logit_bias");
  if (biases == nullptr) return;
  out.logit_bias.clear();
  for (const auto& [name, value] : object_at("logit_bias", *biases)) {
    i32 id = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    const bool is_canonical = name.size() == 1 || !name.starts_with('0');
    if (error != std::errc() || end != name.data() + name.size() || id < 0 || !is_canonical)
      refuse("logit_bias", "must have token ids as names, found {}", shown(Json(name)));
    const std::string place = fmt::format("logit_bias[{}]", id);
    const double bias = number_at(place, value);
    if (bias < -kMaxBias || bias > kMaxBias)
      refuse(place, "must be from -100 to 100, found {}", shown(value));
    out.logit_bias.emplace_back(id, bias);
  }
  std::ranges::sort(out.logit_bias);
}

}  // namespace

Sampling read_sampling(const Json& body, const Sampling& defaults, Endpoint endpoint) {
  Sampling out = defaults;
  read_numbers(body, out);
  read_lengths(body, out);
  // A legacy completion without a length has 16 tokens at OpenAI's and in vLLM.
  constexpr i64 kLegacyMaxTokens = 16;
  if (endpoint == Endpoint::completions && !out.max_tokens)
    out.max_tokens = std::max(kLegacyMaxTokens, out.min_tokens);
  read_stops(body, out);
  read_logprobs(body, endpoint, out);
  read_logit_bias(body, out);
  return out;
}

}  // namespace sticky::request
