#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sticky/base/hash.hpp"
#include "sticky/base/types.hpp"
#include "sticky/request/sampling.hpp"

namespace sticky::engine {

/// Whether any of the three penalties does something.
[[nodiscard]] bool has_penalties(const request::Sampling& sampling);

/// What the penalties look at: the distinct tokens of a sequence.
class TokenCounts {
 public:
  void add_prompt(std::span<const i32> tokens);
  void add_output(i32 token) { ++n_in_output_[token]; }
  /// Token → how often it was generated; 0: it stands in the prompt only.
  [[nodiscard]] const std::unordered_map<i32, i64>& n_in_output() const { return n_in_output_; }

 private:
  std::unordered_map<i32, i64> n_in_output_;
};

/// Names one stream of random numbers. A request with a seed draws from the seed's, whoever it is;
/// else from one of run seed and identity. Each of its answers has a stream of its own.
struct DrawKey {
  std::array<std::uint32_t, 2> key{};
  std::array<std::uint32_t, 2> stream{};
  std::uint32_t choice = 0;
  bool operator==(const DrawKey&) const = default;
};
[[nodiscard]] DrawKey draw_key(const std::optional<i64>& seed,
                               std::uint64_t run_seed,
                               const Hash128& identity,
                               i64 choice = 0);

/// Uniform in [0, 1): Philox with counter (position, choice, stream).
[[nodiscard]] double uniform_at(const DrawKey& key, i64 position);

struct WeightedToken {
  i32 id = 0;
  double weight = 0.0;
};

/// What changes logits before a token is chosen of them.
struct Processing {
  const request::Sampling& sampling;
  const TokenCounts& counts;
  std::span<const i32> banned;  ///< tokens that must not come now
};

/// Chooses tokens. What it gives is a function of its arguments only; it holds nothing but room to
/// work in. A logit that is NaN counts as -inf; where no logit is above -inf, token 0 is chosen. A
/// logit of +inf takes all probability. Ids that are no row of the logits are ignored.
class Sampler {
 public:
  /// In f32, as transformers and vLLM do: logit_bias is added; for each distinct token of prompt
  /// and output a positive logit is divided by repetition_penalty, another multiplied; from those
  /// of the output presence_penalty and frequency_penalty × count are subtracted; banned: -inf.
  /// The result lives until the next call; it is `logits` itself where nothing applies.
  [[nodiscard]] std::span<const float> processed(std::span<const float> logits,
                                                 const Processing& processing);

  /// The tokens that temperature (> 0), top_k, top_p and min_p leave of processed logits, with
  /// weights in proportion to their probabilities. Of equal logits those with lower ids stay.
  /// Lives until the next call. Cost: one pass over the logits; only what is left is sorted.
  [[nodiscard]] std::span<const WeightedToken> kept(std::span<const float> processed,
                                                    const request::Sampling& sampling);

  /// Of processed logits: the highest (lowest id) where temperature is 0, else the token at
  /// `uniform` of the distribution of kept().
  [[nodiscard]] i32 choose(std::span<const float> processed,
                           const request::Sampling& sampling,
                           double uniform);

 private:
  void weigh_all(std::span<const float> processed, double temperature);
  void keep_best(std::span<const float> processed, i64 k, double temperature);
  void keep_at_least(double weight);
  void keep_nucleus(double top_p, double total);

  std::vector<float> processed_;
  std::vector<double> weights_;
  std::vector<WeightedToken> kept_;
};

/// Whether none is NaN or infinite. Cost: 11 us for 49,152 logits, an eighth of argmax()
/// (measured).
[[nodiscard]] bool are_finite(std::span<const float> logits);

/// Index of the highest logit, the lowest of equals; 0 where none is above -inf. Ignores NaN.
[[nodiscard]] i32 argmax(std::span<const float> logits);

/// The n highest logits (as weights), best first, lower ids first among equals; NaN is -inf.
void find_best(std::span<const float> logits, i64 n, std::vector<WeightedToken>& best);

/// How many logits are not below that one, itself included: 1 for the best.
[[nodiscard]] i64 rank_of(std::span<const float> logits, i32 token);

/// ln(sum of e^logit), in double. NaN is left out; +inf where a logit is.
[[nodiscard]] double log_sum_exp(std::span<const float> logits);

}  // namespace sticky::engine
