#include <array>
#include <set>
#include <string_view>

#include "parameters.hpp"
#include "refusal.hpp"

namespace sticky::request {

namespace {

void read_texts(const Json::Array& list, Request& out) {
  const auto n = static_cast<i64>(list.size());
  if (n < 1 || n > kMaxChoices)
    refuse("choice", "must hold 1 to {} strings, found {}", kMaxChoices, n);
  std::set<std::string_view> known;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("choice[{}]", i);
    const std::string& text = string_at(place, list[i]);
    if (text.empty()) refuse(place, "must not be empty");
    if (text.size() > kMaxChoiceBytes)
      refuse(place, "must be at most {} bytes long, found {}", kMaxChoiceBytes, text.size());
    if (!known.insert(text).second)
      refuse(place, "stands there already: each choice once, found {}", shown(list[i]));
    out.choice.push_back(text);
  }
}

// Lengths, stops and ways of drawing have nothing to act upon: a whole choice is the answer, and
// the best one. What would change the choice itself must not be passed over in silence.
void check_others(const Json& body, const Request& out) {
  if (out.n != 1) refuse("n", "must be 1 beside choice, found {}", out.n);
  if (const Json* echo = given(body, "echo"); echo != nullptr && *echo != Json(false))
    refuse("echo", "must be false beside choice, found {}", shown(*echo));
  if (const Json* logprobs = given(body, "prompt_logprobs"))
    refuse("prompt_logprobs", "must not stand beside choice, found {}", shown(*logprobs));
  const Sampling& s = out.sampling;
  const std::array<std::pair<const char*, bool>, 4> changes{{
      {"logit_bias", !s.logit_bias.empty()},
      {"repetition_penalty", s.repetition_penalty != 1.0},
      {"presence_penalty", s.presence_penalty != 0.0},
      {"frequency_penalty", s.frequency_penalty != 0.0},
  }};
  for (const auto& [name, has_effect] : changes) {
    const Json* value = given(body, name);
    if (value != nullptr && has_effect)
      refuse(name, "must not stand beside choice, which scores what the model says, found {}",
             shown(*value));
  }
}

}  // namespace

void read_choice(const Json& body, Request& out) {
  const Json* choice = given(body, "choice");
  if (choice == nullptr) return;
  read_texts(array_at("choice", *choice), out);
  check_others(body, out);
}

}  // namespace sticky::request
