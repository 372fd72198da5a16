#pragma once

#include <span>
#include <vector>

#include "sticky/request/response.hpp"
#include "sticky/tokenizer/tokenizer.hpp"

#include "sampler.hpp"

namespace sticky::engine {

/// Log probabilities of tokens, from the logits that choose them. -9999 stands for those below it:
/// JSON has no -inf, and OpenAI writes this.
class LogprobReader {
 public:
  explicit LogprobReader(const tokenizer::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// That token's, with the `n_top` best.
  [[nodiscard]] request::TokenLogprob of(std::span<const float> logits, i32 token, i64 n_top);
  /// The same with ranks.
  [[nodiscard]] request::TokenLogprob ranked(std::span<const float> logits, i32 token, i64 n_top);
  /// A token that no logits tell of.
  [[nodiscard]] request::TokenLogprob unknown(i32 token) const { return named(token, 0.0); }

 private:
  [[nodiscard]] request::TokenLogprob named(i32 token, double logprob) const;

  const tokenizer::Tokenizer& tokenizer_;
  std::vector<WeightedToken> best_;  // room, kept between calls
};

}  // namespace sticky::engine
