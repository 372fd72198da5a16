#pragma once

#include <string_view>
#include <vector>

#include "sticky/base/json.hpp"
#include "sticky/request/response.hpp"

namespace sticky::request {

/// OpenAI's form for chat: `content`, each token as text and as the bytes it stands for.
[[nodiscard]] Json chat_logprobs(const std::vector<TokenLogprob>& tokens);

/// OpenAI's legacy form, of an echoed prompt and the answer behind it. top_logprobs holds the
/// chosen token too, so up to one more than asked for; of tokens that read alike the best is kept.
/// Offsets count characters of the text.
class LegacyLogprobs {
 public:
  /// The prompt: `n_top` alternatives of each token. Its first token has no logprob.
  void add_prompt(const std::vector<TokenLogprob>& tokens, i64 n_top, std::string_view text);
  void add_answer(const std::vector<TokenLogprob>& tokens, std::string_view text);
  [[nodiscard]] Json take();

 private:
  Json::Array tokens_;
  Json::Array logprobs_;
  Json::Array tops_;
  Json::Array offsets_;
  i64 n_characters_ = 0;
};

/// vLLM's form: null for the first token, then for each an object token id → logprob, rank and
/// text, the prompt's own token first, then the `n_top` best.
[[nodiscard]] Json prompt_logprobs(const std::vector<TokenLogprob>& tokens, i64 n_top);

}  // namespace sticky::request
