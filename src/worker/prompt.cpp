#include "sticky/worker/prompt.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sticky/base/counted.hpp"
#include "sticky/base/error.hpp"
#include "sticky/base/regular_file.hpp"

namespace sticky::worker {

namespace {

using request::RequestError;

std::string read_template(const std::string& path) {
  try {
    return read_regular_file(path);
  } catch (const SystemError& error) {
    fail<ConfigError>("chat.template: {}", error.what());
  }
}

// What transformers puts before a template beside the messages.
Json template_variables(const tokenizer::SpecialTokens& special, const Json& kwargs) {
  Json variables = Json::object();
  const auto add = [&](const char* name, const std::string& token) {
    if (!token.empty()) variables.set(name, token);
  };
  add("bos_token", special.bos);
  add("eos_token", special.eos);
  add("unk_token", special.unk);
  add("pad_token", special.pad);
  if (kwargs.is_object()) {
    for (const auto& [name, value] : kwargs.as_object())
      variables.set(name, value);
  }
  return variables;
}

// Text parts of one message joined, as a template that knows only strings needs it.
void join_parts(Json& message) {
  Json* content = message.find("content");
  if (content == nullptr || !content->is_array()) return;
  std::string joined;
  for (const Json& part : content->as_array()) {
    const Json* text = part.find("text");
    if (text != nullptr && text->is_string()) joined += text->as_string();
  }
  *content = std::move(joined);
}

// Whether a template walks over content parts itself: found by trying, since there are many ways to
// write it.
bool reads_parts(const chat::ChatTemplate& compiled, const Json& variables) {
  const std::string probe = "probe of content parts";
  chat::RenderInput input;
  input.messages = Json::array({Json::object(
      {{"role", "user"},
       {"content", Json::array({Json::object({{"type", "text"}, {"text", probe}})})}})});
  input.variables = variables;
  input.now = "2026-01-01T00:00:00";
  try {
    const std::string text = compiled.render(input).text;
    // A template that prints the list as it is shows the part's own key.
    return text.find(probe) != std::string::npos && text.find("type") == std::string::npos;
  } catch (const chat::TemplateError&) {
    return false;
  }
}

std::vector<tokenizer::ByteRange> byte_ranges(const std::vector<chat::ContentRange>& content) {
  std::vector<tokenizer::ByteRange> ranges;
  ranges.reserve(content.size());
  for (const auto& range : content)
    ranges.push_back({range.first, range.n});
  return ranges;
}

RequestError invalid(std::string message, std::string param) {
  return {.code = "invalid_request",
          .message = std::move(message),
          .param = std::move(param),
          .custom_id = {}};
}

std::optional<RequestError> length_objection(const std::string& text,
                                             i64 max_bytes,
                                             std::string param) {
  const auto n_bytes = static_cast<i64>(text.size());
  if (n_bytes <= max_bytes) return std::nullopt;
  return RequestError{
      .code = "context_length_exceeded",
      .message = fmt::format("the prompt has {} bytes: more tokens than fit (state.context), even "
                             "if each were the longest there is",
                             n_bytes),
      .param = std::move(param),
      .custom_id = {}};
}

i64 longest_piece_of(const tokenizer::Tokenizer& tokenizer) {
  std::size_t longest = 1;
  for (i64 id = 0; id < tokenizer.vocab_size(); ++id)
    longest = std::max(longest, tokenizer.piece(static_cast<i32>(id)).size());
  return static_cast<i64>(longest);
}

// Choices are compared by what lies behind the tokens that all of them begin with.
std::optional<RequestError> find_shared_beginning(Prompt& prompt) {
  const std::vector<i32>& ids = prompt.token_ids;
  std::size_t n = ids.size();
  for (const auto& choice : prompt.choices) {
    const auto differs = std::ranges::mismatch(ids, choice).in1;
    n = std::min(n, static_cast<std::size_t>(differs - ids.begin()));
  }
  prompt.n_shared = static_cast<i64>(n);
  for (std::size_t i = 0; i < prompt.choices.size(); ++i) {
    const std::string place = fmt::format("choice[{}]", i);
    if (n == 0)
      return invalid(
          "the prompt's first token becomes another one when a choice follows it, so that nothing "
          "stands before the choice: a longer prompt is needed",
          place);
    if (prompt.choices[i].size() <= n)
      return invalid("this choice has no tokens of its own behind the prompt", place);
  }
  return std::nullopt;
}

// `encode(prompt, choice)` gives the tokens of the prompt with a choice behind it.
template <class Encode>
std::variant<Prompt, RequestError> with_choices(Prompt prompt,
                                                const request::Request& request,
                                                i64 max_tokens,
                                                const Encode& encode) {
  if (request.choice.empty() || prompt.token_ids.empty()) return prompt;
  if (std::ssize(prompt.token_ids) > max_tokens) return prompt;
  // The prompt is read once more for each of them: seconds of work at most.
  constexpr i64 kMostBytes = i64{16} << 20;
  const i64 n_bytes = std::ssize(request.choice) * std::ssize(prompt.text);
  if (n_bytes > kMostBytes)
    return invalid(fmt::format("{} behind a prompt of {} bytes are {} bytes to tokenise, and at "
                               "most {} are possible: write lines of fewer choices",
                               counted(std::ssize(request.choice), "choice"),
                               std::ssize(prompt.text), n_bytes, kMostBytes),
                   "choice");
  for (const std::string& choice : request.choice)
    prompt.choices.push_back(encode(std::as_const(prompt), choice));
  if (auto error = find_shared_beginning(prompt)) return *error;
  return prompt;
}

}  // namespace

PromptMaker::PromptMaker(const tokenizer::TextFiles& files, const ChatOptions& options)
    : files_(&files),
      options_(options),
      longest_piece_(longest_piece_of(*files.tokenizer)) {
  if (!options.template_file.empty())
    template_ = chat::ChatTemplate::compile(read_template(options.template_file));
  else if (files.chat_template)
    template_ = chat::ChatTemplate::compile(*files.chat_template);
  if (template_)
    template_reads_parts_ = reads_parts(*template_, template_variables(files.special, Json()));
}

std::variant<Prompt, RequestError> PromptMaker::make(const request::Request& request,
                                                     i64 max_tokens) const {
  if (request.endpoint == request::Endpoint::chat) return chat_prompt(request, max_tokens);
  return completion_prompt(request, max_tokens);
}

// A text of more bytes has more tokens. Normalizers may shorten a text: composing characters (NFC)
// makes it 3 times shorter at most. Only runs of blanks beside special tokens that eat them could
// still be longer.
i64 PromptMaker::most_bytes_of(i64 n_tokens) const {
  constexpr i64 kShortening = 4;
  if (n_tokens >= kAnyLength / (longest_piece_ * kShortening)) return kAnyLength;
  return n_tokens * longest_piece_ * kShortening;
}

std::variant<Prompt, RequestError> PromptMaker::chat_prompt(const request::Request& request,
                                                            i64 max_tokens) const {
  if (!template_)
    return invalid(
        "this model has no chat template: give one by chat.template, or use /v1/completions",
        "messages");
  chat::RenderInput input;
  input.messages = request.messages;
  input.tools = request.tools;
  input.add_generation_prompt = request.add_generation_prompt;
  input.variables = template_variables(files_->special, request.template_kwargs);
  input.now = options_.now;
  if (options_.content == "auto" && !template_reads_parts_) {
    for (Json& message : input.messages.as_array())
      join_parts(message);
  }
  chat::Rendered rendered;
  try {
    rendered = template_->render(input);
  } catch (const chat::TemplateError& error) {
    return invalid(error.what(), "messages");
  }
  // transformers drops such a message without a word; a user would not see that it was never
  // answered.
  if (rendered.dropped_message >= 0 && options_.content != "hf")
    return invalid("the chat template leaves this message out: does it know its role?",
                   fmt::format("messages[{}]", rendered.dropped_message));
  if (auto error = length_objection(rendered.text, most_bytes_of(max_tokens), "messages"))
    return *error;
  const auto content = byte_ranges(rendered.content);
  Prompt prompt{.text = std::move(rendered.text), .token_ids = {}};
  prompt.token_ids = encode_chat(prompt.text, content);
  return with_choices(std::move(prompt), request, max_tokens,
                      [&](const Prompt& before, const std::string& choice) {
                        auto ranges = content;
                        ranges.push_back({std::ssize(before.text), std::ssize(choice)});
                        return encode_chat(before.text + choice, ranges);
                      });
}

std::vector<i32> PromptMaker::encode_chat(const std::string& text,
                                          const std::vector<tokenizer::ByteRange>& content) const {
  const tokenizer::EncodeOptions encode;  // the template writes BOS itself: one BOS, never two
  return options_.special_tokens_in_content
             ? files_->tokenizer->encode(text, encode)
             : files_->tokenizer->encode_with_content(text, content, encode);
}

std::variant<Prompt, RequestError> PromptMaker::completion_prompt(const request::Request& request,
                                                                  i64 max_tokens) const {
  const tokenizer::Tokenizer& tokenizer = *files_->tokenizer;
  // Ids are taken as they are, so a choice is tokenised by itself.
  if (const auto* ids = std::get_if<std::vector<i32>>(&request.prompt))
    return with_choices({.text = {}, .token_ids = *ids}, request, max_tokens,
                        [&](const Prompt& before, const std::string& choice) {
                          std::vector<i32> joined = before.token_ids;
                          const auto more = tokenizer.encode(choice, {});
                          joined.insert(joined.end(), more.begin(), more.end());
                          return joined;
                        });
  const auto& text = std::get<std::string>(request.prompt);
  if (auto error = length_objection(text, most_bytes_of(max_tokens), "prompt")) return *error;
  const tokenizer::EncodeOptions encode{.add_special_tokens = request.add_special_tokens};
  return with_choices({.text = text, .token_ids = tokenizer.encode(text, encode)}, request,
                      max_tokens, [&](const Prompt& before, const std::string& choice) {
                        return tokenizer.encode(before.text + choice, encode);
                      });
}

}  // namespace sticky::worker
