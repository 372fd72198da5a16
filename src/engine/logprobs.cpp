#include "logprobs.hpp"

namespace sticky::engine {
namespace {

constexpr double kLowestLogprob = -9999.0;

}  // namespace

request::TokenLogprob LogprobReader::named(i32 token, double logprob) const {
  // Written so that NaN becomes the lowest, too.
  return {.id = token,
          .piece = tokenizer_.piece(token),
          .logprob = logprob > kLowestLogprob ? logprob : kLowestLogprob,
          .top = {}};
}

request::TokenLogprob LogprobReader::of(std::span<const float> logits, i32 token, i64 n_top) {
  const double normalizer = log_sum_exp(logits);
  auto chosen = named(token, logits[static_cast<std::size_t>(token)] - normalizer);
  find_best(logits, n_top, best_);
  chosen.top.reserve(best_.size());
  for (const auto& [id, logit] : best_)
    chosen.top.push_back(named(id, logit - normalizer));
  return chosen;
}

request::TokenLogprob LogprobReader::ranked(std::span<const float> logits, i32 token, i64 n_top) {
  auto chosen = of(logits, token, n_top);
  chosen.rank = rank_of(logits, token);
  i64 rank = 0;
  for (request::TokenLogprob& other : chosen.top) {
    other.rank = ++rank;
    if (other.id == token) chosen.rank = rank;  // equals are ordered there
  }
  return chosen;
}

}  // namespace sticky::engine
