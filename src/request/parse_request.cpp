#include <algorithm>
#include <utility>

#include "line_form.hpp"
#include "parameters.hpp"
#include "refusal.hpp"

namespace sticky::request {

namespace {

void check_part(const std::string& place, const Json& part) {
  (void)object_at(place, part);
  const Json* type = part.find("type");
  if (type == nullptr) refuse(place + ".type", "is missing");
  if (string_at(place + ".type", *type) != "text")
    refuse(place + ".type", "must be \"text\" for a model of text, found {}", shown(*type));
  const Json* text = part.find("text");
  if (text == nullptr) refuse(place + ".text", "is missing");
  (void)string_at(place + ".text", *text);
}

void check_message(const std::string& place, const Json& message) {
  (void)object_at(place, message);
  const Json* role = message.find("role");
  if (role == nullptr) refuse(place + ".role", "is missing");
  if (string_at(place + ".role", *role).empty()) refuse(place + ".role", "must not be empty");
  const Json* content = message.find("content");
  // A turn that only calls tools may go without.
  if (content == nullptr && given(message, "tool_calls") == nullptr)
    refuse(place + ".content", "is missing");
  if (content == nullptr || content->is_null() || content->is_string()) return;
  if (!content->is_array())
    refuse(place + ".content", "must be a string, null or an array of parts, found {}",
           shown(*content));
  const auto& parts = content->as_array();
  for (std::size_t i = 0; i < parts.size(); ++i)
    check_part(fmt::format("{}.content[{}]", place, i), parts[i]);
}

void read_chat(const Json& body, Request& out) {
  const Json* messages = given(body, "messages");
  if (messages == nullptr) refuse("messages", "is missing");
  const auto& list = array_at("messages", *messages);
  if (list.empty()) refuse("messages", "must not be empty");
  for (std::size_t i = 0; i < list.size(); ++i)
    check_message(fmt::format("messages[{}]", i), list[i]);
  out.messages = *messages;

  if (const Json* tools = given(body, "tools")) {
    const auto& functions = array_at("tools", *tools);
    for (std::size_t i = 0; i < functions.size(); ++i)
      (void)object_at(fmt::format("tools[{}]", i), functions[i]);
    if (!functions.empty()) out.tools = *tools;
  }
  if (const Json* arguments = given(body, "chat_template_kwargs")) {
    (void)object_at("chat_template_kwargs", *arguments);
    out.template_kwargs = *arguments;
  }
  if (const Json* add = given(body, "add_generation_prompt"))
    out.add_generation_prompt = boolean_at("add_generation_prompt", *add);
}

std::vector<i32> token_ids(std::string_view place, const Json::Array& list) {
  std::vector<i32> ids;
  ids.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    // The place is only written out where something is wrong: prompts have many ids.
    if (!list[i].is_integer() || list[i].as_integer() < 0 || list[i].as_integer() > INT32_MAX)
      (void)token_id_at(fmt::format("{}[{}]", place, i), list[i]);
    ids.push_back(static_cast<i32>(list[i].as_integer()));
  }
  return ids;
}

std::variant<std::string, std::vector<i32>> read_prompt(const Json& prompt) {
  if (prompt.is_string()) return prompt.as_string();
  if (!prompt.is_array())
    refuse("prompt", "must be a string or an array of token ids, found {}", shown(prompt));
  const auto& list = prompt.as_array();
  const bool is_nested = !list.empty() && (list[0].is_string() || list[0].is_array());
  if (!is_nested) return token_ids("prompt", list);
  if (list.size() != 1)
    refuse("prompt", "must hold one prompt, found {}: write a line for each", list.size());
  if (list[0].is_string()) return list[0].as_string();
  return token_ids("prompt[0]", list[0].as_array());
}

void read_completion(const Json& body, Request& out) {
  const Json* prompt = given(body, "prompt");
  if (prompt == nullptr) refuse("prompt", "is missing");
  out.prompt = read_prompt(*prompt);
  if (const Json* add = given(body, "add_special_tokens"))
    out.add_special_tokens = boolean_at("add_special_tokens", *add);
  if (const Json* echo = given(body, "echo")) out.echo = boolean_at("echo", *echo);
}

// OpenAI's best_of makes more answers than it gives. Here all that are made are given.
void read_number_of_answers(const Json& body, Request& out) {
  if (const Json* n = given(body, "n")) out.n = integer_at("n", *n, 1, kMaxAnswers);
  const Json* best_of = given(body, "best_of");
  if (best_of != nullptr &&
      (!best_of->is_number() || best_of->as_double() != static_cast<double>(out.n)))
    refuse("best_of", "must equal n, which is {}: answers are not ranked here, found {}", out.n,
           shown(*best_of));
}

// An answer of no tokens is asked for by those who want to know something of the prompt.
void check_asks_for_something(const Json& body, const Request& out) {
  if (out.sampling.max_tokens != 0 || out.echo || out.prompt_logprobs >= 0) return;
  if (!out.choice.empty()) return;  // lengths do nothing beside it
  const char* name = given(body, "max_tokens") != nullptr ? "max_tokens" : "max_completion_tokens";
  refuse(name, "must be 1 or more, found 0: only with echo or prompt_logprobs it may be 0");
}

[[noreturn]] void refuse_unknown(const std::string& name, Endpoint endpoint) {
  const auto nearest = nearest_parameter(name, endpoint);
  if (nearest.empty()) refuse(name, "is no parameter known here");
  refuse(name, "is no parameter known here; is '{}' meant?", nearest);
}

void check_parameter(const Parameter& p, const Json& value, Endpoint endpoint) {
  if (value.is_null()) return;
  const bool is_chat = endpoint == Endpoint::chat;
  if (is_chat ? !p.chat : !p.completions)
    refuse(p.name, "belongs to {}, not to {}", is_chat ? kCompletionsUrl : kChatUrl,
           is_chat ? kChatUrl : kCompletionsUrl);
  if (p.use == Use::fixed && value != Json::parse(p.accepted))
    refuse(p.name, "{}, found {}", p.hint, shown(value));
}

void check_known(const Json& body, bool is_shorthand, Endpoint endpoint) {
  for (const auto& [name, value] : body.as_object()) {
    const Parameter* p = find_parameter(name);
    if (is_shorthand && (p == nullptr || !p->shorthand)) continue;  // a column
    if (p == nullptr) refuse_unknown(name, endpoint);
    check_parameter(*p, value, endpoint);
  }
}

void read_body(const Json& body, bool is_shorthand, const Sampling& defaults, Request& out) {
  check_known(body, is_shorthand, out.endpoint);
  if (const Json* model = given(body, "model")) {
    if (string_at("model", *model).empty()) refuse("model", "must not be empty");
    out.model = model->as_string();
  }
  out.sampling = read_sampling(body, defaults, out.endpoint);
  read_number_of_answers(body, out);
  if (const Json* ids = given(body, "return_token_ids"))
    out.return_token_ids = boolean_at("return_token_ids", *ids);
  if (const Json* logprobs = given(body, "prompt_logprobs"))
    out.prompt_logprobs = integer_at("prompt_logprobs", *logprobs, 0, kMaxTopLogprobs);
  out.endpoint == Endpoint::chat ? read_chat(body, out) : read_completion(body, out);
  read_choice(body, out);
  check_asks_for_something(body, out);
}

Endpoint endpoint_of(const Json& line) {
  const Json* method = line.find("method");
  if (method == nullptr) refuse("method", "is missing: must be \"POST\"");
  if (string_at("method", *method) != "POST")
    refuse("method", "must be \"POST\", found {}", shown(*method));
  const Json* url = line.find("url");
  if (url == nullptr) refuse("url", "is missing");
  const std::string& text = string_at("url", *url);
  if (text == kChatUrl) return Endpoint::chat;
  if (text == kCompletionsUrl) return Endpoint::completions;
  if (text == "/v1/embeddings")
    throw Refusal{"url_mismatch", "'url' asks for embeddings, which are not computed here", "url"};
  throw Refusal{"url_mismatch",
                fmt::format("'url' must be \"{}\" or \"{}\", found {}", kChatUrl, kCompletionsUrl,
                            shown(*url)),
                "url"};
}

void read_line(const Json& line, const Sampling& defaults, Request& out) {
  for (const char* name : {"custom_id", "id"}) {
    const Json* id = line.find(name);
    if (id == nullptr) continue;
    if (!id->is_string() || id->as_string().empty())
      throw Refusal{
          "invalid_request",
          fmt::format("'{}' must be a string that is not empty, found {}", name, shown(*id)),
          "custom_id"};
    break;
  }
  out.row = row_of(line);
  if (is_batch_line(line)) {
    out.endpoint = endpoint_of(line);
    const Json* body = line.find("body");
    if (body == nullptr) refuse("body", "is missing");
    (void)object_at("body", *body);
    return read_body(*body, false, defaults, out);
  }
  const auto endpoint = shorthand_endpoint(line);
  if (!endpoint && given(line, "prompt") != nullptr)
    refuse("prompt", "and 'messages' stand on one line: give one of them");
  if (!endpoint)
    throw Refusal{
        "invalid_request",
        "the line has no \"prompt\", no \"messages\" and no \"body\": it asks for nothing", ""};
  out.endpoint = *endpoint;
  read_body(line, true, defaults, out);
}

}  // namespace

i64 n_top_of_prompt(const Request& request) {
  const i64 n_echoed = request.echo ? request.sampling.top_logprobs : -1;
  return std::max(request.prompt_logprobs, n_echoed);
}

std::variant<Request, RequestError> parse_request(const Json& line, const Sampling& defaults) {
  if (!line.is_object())
    return RequestError{"invalid_json_line",
                        fmt::format("the line is {}, not an object", line.kind_name()), "",
                        std::nullopt};
  Request out;
  out.custom_id = id_of(line);
  try {
    read_line(line, defaults, out);
  } catch (Refusal& refusal) {
    return RequestError{std::move(refusal.code), std::move(refusal.message),
                        std::move(refusal.param), std::move(out.custom_id)};
  }
  return out;
}

}  // namespace sticky::request
