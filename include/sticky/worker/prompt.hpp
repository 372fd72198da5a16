#pragma once

#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sticky/base/types.hpp"
#include "sticky/chat/chat_template.hpp"
#include "sticky/request/request.hpp"
#include "sticky/tokenizer/tokenizer.hpp"
#include "sticky/worker/options.hpp"

namespace sticky::worker {

/// The exact prompt of one request.
struct Prompt {
  std::string text;  ///< empty where the request came as token ids
  std::vector<i32> token_ids;
  /// Prompt and choice tokenised together, for each choice of the request: their border may lie
  /// within a token that the prompt alone does not have.
  std::vector<std::vector<i32>> choices = {};
  i64 n_shared = 0;  ///< tokens at the beginning that the prompt and all of `choices` have
};

/// Makes prompts from requests: chat template, special tokens, tokenizer. Needs a model's text
/// files only, no weights. Immutable; usable from several threads at once.
class PromptMaker {
 public:
  /// `files` outlives this. Throws ConfigError when a template file of the options cannot be read,
  /// chat::TemplateError when it (or the model's own) cannot be compiled.
  PromptMaker(const tokenizer::TextFiles& files, const ChatOptions& options);

  /// A failure is the request's own: invalid_request with the parameter at fault, or
  /// context_length_exceeded, before a token is made, for a text that must have more than
  /// max_tokens of them. A prompt found to have more has none of its choices tokenised.
  [[nodiscard]] std::variant<Prompt, request::RequestError> make(const request::Request& request,
                                                                 i64 max_tokens = kAnyLength) const;
  /// Whether chat requests can be answered at all.
  [[nodiscard]] bool has_chat_template() const { return template_.has_value(); }

 private:
  static constexpr i64 kAnyLength = std::numeric_limits<i64>::max();

  [[nodiscard]] i64 most_bytes_of(i64 n_tokens) const;
  [[nodiscard]] std::vector<i32> encode_chat(
      const std::string& text, const std::vector<tokenizer::ByteRange>& content) const;
  [[nodiscard]] std::variant<Prompt, request::RequestError> chat_prompt(
      const request::Request& request, i64 max_tokens) const;
  [[nodiscard]] std::variant<Prompt, request::RequestError> completion_prompt(
      const request::Request& request, i64 max_tokens) const;

  const tokenizer::TextFiles* files_;
  ChatOptions options_;
  std::optional<chat::ChatTemplate> template_;  // none: the model has none, chat requests fail
  bool template_reads_parts_ = false;           // it loops over content itself
  i64 longest_piece_ = 1;                       // bytes
};

}  // namespace sticky::worker
