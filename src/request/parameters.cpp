#include "parameters.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace sticky::request {

namespace {

constexpr Parameter read(std::string_view name) {
  return {.name = name};
}
constexpr Parameter chat_only(std::string_view name) {
  return {.name = name, .completions = false};
}
constexpr Parameter completions_only(std::string_view name) {
  return {.name = name, .chat = false};
}
constexpr Parameter fixed(std::string_view name,
                          std::string_view accepted,
                          std::string_view hint = "is not supported") {
  return {.name = name, .use = Use::fixed, .accepted = accepted, .hint = hint};
}
// Names that a table of data might well have as a column.
constexpr Parameter fixed_in_body(std::string_view name,
                                  std::string_view accepted = "null",
                                  std::string_view hint = "is not supported") {
  return {.name = name, .use = Use::fixed, .shorthand = false, .accepted = accepted, .hint = hint};
}
constexpr Parameter ignored(std::string_view name) {
  return {.name = name, .use = Use::ignored, .shorthand = false};
}

constexpr std::array kParameters = {
    read("model"),
    chat_only("messages"),
    completions_only("prompt"),
    read("max_tokens"),
    read("max_completion_tokens"),
    read("min_tokens"),
    read("temperature"),
    read("top_p"),
    read("top_k"),
    read("min_p"),
    read("repetition_penalty"),
    read("presence_penalty"),
    read("frequency_penalty"),
    read("seed"),
    read("stop"),
    read("stop_token_ids"),
    read("ignore_eos"),
    read("include_stop_str_in_output"),
    read("logprobs"),
    read("top_logprobs"),
    read("logit_bias"),
    read("n"),
    read("best_of"),
    read("choice"),
    read("return_token_ids"),
    read("prompt_logprobs"),
    completions_only("echo"),
    completions_only("add_special_tokens"),
    chat_only("add_generation_prompt"),
    chat_only("chat_template_kwargs"),
    chat_only("tools"),
    fixed("stream", "false", "must be false: a batch has no stream"),
    fixed("regex", "null"),
    fixed("json_schema", "null"),
    fixed("response_format", R"({"type":"text"})", "must be {\"type\":\"text\"}"),
    fixed("use_beam_search", "false"),
    fixed("skip_special_tokens", "true"),
    fixed("continue_final_message", "false"),
    fixed_in_body("suffix"),
    fixed_in_body("tool_choice", R"("auto")", "must be \"auto\""),
    fixed_in_body("functions", "null", "is not supported: use tools"),
    fixed_in_body("function_call"),
    fixed_in_body("modalities", R"(["text"])", "must be [\"text\"]"),
    fixed_in_body("audio"),
    fixed_in_body("prediction"),
    fixed_in_body("reasoning_effort", "null", "is not supported: use chat_template_kwargs"),
    fixed_in_body("verbosity"),
    fixed_in_body("web_search_options"),
    fixed_in_body("guided_json"),
    fixed_in_body("guided_regex"),
    fixed_in_body("guided_choice", "null", "is not supported: use choice"),
    fixed_in_body("guided_grammar"),
    fixed_in_body("structured_outputs"),
    fixed_in_body("length_penalty", "1.0", "must be 1.0"),
    fixed_in_body("early_stopping", "false"),
    fixed_in_body("spaces_between_special_tokens", "true"),
    fixed_in_body("truncate_prompt_tokens"),
    fixed_in_body("bad_words", "[]"),
    fixed_in_body("allowed_token_ids"),
    fixed_in_body("documents"),
    fixed_in_body("chat_template", "null", "is not supported: set chat.template in the job"),
    fixed_in_body("logits_processors"),
    fixed_in_body("prompt_embeds"),
    ignored("user"),
    ignored("metadata"),
    ignored("store"),
    ignored("service_tier"),
    ignored("safety_identifier"),
    ignored("prompt_cache_key"),
    ignored("prompt_cache_retention"),
    ignored("parallel_tool_calls"),
    ignored("stream_options"),
    ignored("priority"),
    ignored("request_id"),
    ignored("cache_salt"),
};

// Levenshtein: the fewest letters changed, added or left out that turn a into b.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::span<const Parameter> all_parameters() {
  return kParameters;
}

const Parameter* find_parameter(std::string_view name) {
  const auto* at = std::ranges::find(kParameters, name, &Parameter::name);
  return at != kParameters.end() ? at : nullptr;
}

std::string_view nearest_parameter(std::string_view name, Endpoint endpoint) {
  constexpr std::size_t kLongest = 40;
  if (name.size() > kLongest) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const Parameter& p : kParameters) {
    const bool belongs = endpoint == Endpoint::chat ? p.chat : p.completions;
    if (p.use != Use::read || !belongs) continue;
    if (const auto d = distance(name, p.name); d < best_distance) {
      best = p.name;
      best_distance = d;
    }
  }
  return best;
}

const Json* given(const Json& body, std::string_view name) {
  const Json* value = body.find(name);
  return value != nullptr && !value->is_null() ? value : nullptr;
}

}  // namespace sticky::request
