#include "sampler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include "sticky/base/random.hpp"

#include "elementary.hpp"

namespace sticky::engine {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

std::array<std::uint32_t, 2> words_of(std::uint64_t x) {
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)};
}

// Loops over this many elements become vector code, and sums in as many lanes have the same bits
// whatever the width of vectors.
constexpr std::size_t kLanes = 16;

// NaN is never above anything, so it drops out.
float highest(std::span<const float> logits) {
  std::array<float, kLanes> lanes;
  lanes.fill(kMinusInfinity);
  std::size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float x = logits[i + lane];
      lanes[lane] = x > lanes[lane] ? x : lanes[lane];
    }
  }
  float best = *std::ranges::max_element(lanes);
  for (; i < logits.size(); ++i)
    best = logits[i] > best ? logits[i] : best;
  return best;
}

// e^((logit - best) / temperature) of kLanes logits.
void weigh_lanes(const float* logits, double best, double temperature, double* weights) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    weights[lane] = exp_nonpositive((logits[lane] - best) / temperature);
  }
}

// The same of one. The best itself has exactly 1, also where it is infinite.
double weight_of(double logit, double best, double temperature) {
  return logit == best ? 1.0 : exp_nonpositive((logit - best) / temperature);
}

bool is_better(const WeightedToken& a, const WeightedToken& b) {
  return a.weight > b.weight || (a.weight == b.weight && a.id < b.id);
}

double sum_in_lanes(std::span<const double> values) {
  std::array<double, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += values[i + lane];
  }
  for (; i < values.size(); ++i)
    sums[0] += values[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

double total_weight(std::span<const WeightedToken> tokens) {
  double total = 0.0;
  for (const WeightedToken& t : tokens)
    total += t.weight;
  return total;
}

void apply_penalties(std::span<float> logits, const request::Sampling& s, const TokenCounts& seen) {
  const auto repetition = static_cast<float>(s.repetition_penalty);
  const auto presence = static_cast<float>(s.presence_penalty);
  const auto frequency = static_cast<float>(s.frequency_penalty);
  for (const auto& [id, n_in_output] : seen.n_in_output()) {
    float& logit = logits[static_cast<std::size_t>(id)];
    logit = logit > 0.0F ? logit / repetition : logit * repetition;
    if (n_in_output > 0) logit -= presence + frequency * static_cast<float>(n_in_output);
  }
}

}  // namespace

bool has_penalties(const request::Sampling& s) {
  return s.repetition_penalty != 1.0 || s.presence_penalty != 0.0 || s.frequency_penalty != 0.0;
}

void TokenCounts::add_prompt(std::span<const i32> tokens) {
  for (const i32 token : tokens)
    n_in_output_.try_emplace(token, 0);
}

DrawKey draw_key(const std::optional<i64>& seed,
                 std::uint64_t run_seed,
                 const Hash128& identity,
                 i64 choice) {
  const auto number = static_cast<std::uint32_t>(choice);
  if (seed)
    return {.key = words_of(std::bit_cast<std::uint64_t>(*seed)), .stream = {}, .choice = number};
  const std::array<std::uint64_t, 3> source{run_seed, identity.high, identity.low};
  const auto bytes = std::bit_cast<std::array<char, sizeof source>>(source);
  const Hash128 mixed = hash128(std::string_view(bytes.data(), bytes.size()));
  return {.key = words_of(mixed.high), .stream = words_of(mixed.low), .choice = number};
}

double uniform_at(const DrawKey& key, i64 position) {
  const auto place = static_cast<std::uint32_t>(position);  // no context is near 2^32
  const auto random = philox(key.key, {place, key.choice, key.stream[0], key.stream[1]});
  return uniform01(random[0], random[1]);
}

bool are_finite(std::span<const float> logits) {
  // Exponents of all ones. On integers, since vectors of floats may not be told to skip NaN.
  constexpr std::uint32_t kExponent = 0x7f800000U;
  std::uint32_t n_bad = 0;
  for (const float logit : logits)
    n_bad += (std::bit_cast<std::uint32_t>(logit) & kExponent) == kExponent ? 1U : 0U;
  return n_bad == 0;
}

i32 argmax(std::span<const float> logits) {
  const float best = highest(logits);
  if (best == kMinusInfinity) return 0;
  return static_cast<i32>(std::ranges::find(logits, best) - logits.begin());
}

void find_best(std::span<const float> logits, i64 n, std::vector<WeightedToken>& best) {
  best.clear();
  const auto n_wanted = std::min(static_cast<std::size_t>(n), logits.size());
  if (n_wanted == 0) return;
  // A heap with the worst of the best on top: most logits cost one comparison.
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float logit = std::isnan(logits[i]) ? kMinusInfinity : logits[i];
    if (best.size() == n_wanted) {
      if (!(logit > best.front().weight)) continue;
      std::ranges::pop_heap(best, is_better);
      best.pop_back();
    }
    best.push_back({static_cast<i32>(i), logit});
    std::ranges::push_heap(best, is_better);
  }
  std::ranges::sort_heap(best, is_better);
}

i64 rank_of(std::span<const float> logits, i32 token) {
  const float own = logits[static_cast<std::size_t>(token)];
  i64 n = 0;
  for (const float logit : logits)
    n += logit >= own ? 1 : 0;
  return n;
}

double log_sum_exp(std::span<const float> logits) {
  const double best = highest(logits);
  if (std::isinf(best)) return best;
  std::array<double, kLanes> sums{};
  std::array<double, kLanes> weights{};
  std::size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    weigh_lanes(&logits[i], best, 1.0, weights.data());
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += weights[lane];
  }
  for (; i < logits.size(); ++i)
    sums[0] += exp_nonpositive(logits[i] - best);
  return best + log_positive(std::accumulate(sums.begin(), sums.end(), 0.0));
}

std::span<const float> Sampler::processed(std::span<const float> logits,
                                          const Processing& processing) {
  const request::Sampling& s = processing.sampling;
  if (!has_penalties(s) && s.logit_bias.empty() && processing.banned.empty()) return logits;
  processed_.assign(logits.begin(), logits.end());
  const auto is_row = [&](i32 id) { return id >= 0 && id < static_cast<i64>(logits.size()); };
  for (const auto& [id, bias] : s.logit_bias) {
    if (is_row(id)) processed_[static_cast<std::size_t>(id)] += static_cast<float>(bias);
  }
  if (has_penalties(s)) apply_penalties(processed_, s, processing.counts);
  for (const i32 id : processing.banned) {
    if (is_row(id)) processed_[static_cast<std::size_t>(id)] = kMinusInfinity;
  }
  return processed_;
}

void Sampler::weigh_all(std::span<const float> processed, double temperature) {
  const double best = highest(processed);
  weights_.resize(processed.size());
  std::size_t i = 0;
  for (; !std::isinf(best) && i + kLanes <= processed.size(); i += kLanes) {
    weigh_lanes(&processed[i], best, temperature, &weights_[i]);
  }
  for (; i < processed.size(); ++i)
    weights_[i] = weight_of(processed[i], best, temperature);
}

void Sampler::keep_best(std::span<const float> processed, i64 k, double temperature) {
  find_best(processed, k, kept_);
  const double best = kept_.front().weight;
  for (WeightedToken& t : kept_)
    t.weight = weight_of(t.weight, best, temperature);
}

void Sampler::keep_at_least(double weight) {
  kept_.clear();
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] >= weight) kept_.push_back({static_cast<i32>(i), weights_[i]});
  }
}

void Sampler::keep_nucleus(double top_p, double total) {
  double reached = 0.0;
  std::ptrdiff_t n_sorted = 0;
  const std::ptrdiff_t n = std::ssize(kept_);
  while (n_sorted < n) {
    const std::ptrdiff_t end = std::min(n, std::max<std::ptrdiff_t>(64, 4 * n_sorted));
    std::nth_element(kept_.begin() + n_sorted, kept_.begin() + end - 1, kept_.end(), is_better);
    std::sort(kept_.begin() + n_sorted, kept_.begin() + end, is_better);
    for (; n_sorted < end; ++n_sorted) {
      if (n_sorted > 0 && reached >= top_p * total) {
        kept_.resize(static_cast<std::size_t>(n_sorted));
        return;
      }
      reached += kept_[static_cast<std::size_t>(n_sorted)].weight;
    }
  }
}

std::span<const WeightedToken> Sampler::kept(std::span<const float> processed,
                                             const request::Sampling& sampling) {
  const double p = sampling.top_p;
  double total = 0.0;
  if (sampling.top_k > 0 && sampling.top_k < std::ssize(processed)) {
    keep_best(processed, sampling.top_k, sampling.temperature);
    total = total_weight(kept_);
  } else {
    weigh_all(processed, sampling.temperature);
    total = sum_in_lanes(weights_);
    // Tokens below this weight have less than (1 - p) of the total together: they are not in the
    // nucleus, and need not be sorted. Halved: rounding must not drop one that is.
    keep_at_least(0.5 * (1.0 - p) * total / static_cast<double>(processed.size()));
  }
  if (p < 1.0) keep_nucleus(p, total);
  if (sampling.min_p > 0.0) {  // the best has weight 1
    std::erase_if(kept_, [&](const WeightedToken& t) { return t.weight < sampling.min_p; });
  }
  return kept_;
}

i32 Sampler::choose(std::span<const float> processed,
                    const request::Sampling& sampling,
                    double uniform) {
  if (sampling.temperature == 0.0 || sampling.top_k == 1) return argmax(processed);
  if (highest(processed) == kMinusInfinity) return 0;
  const auto tokens = kept(processed, sampling);
  const double target = uniform * total_weight(tokens);
  double reached = 0.0;
  i32 last = 0;  // rounding may leave the sum below the target
  for (const WeightedToken& t : tokens) {
    if (t.weight == 0.0) continue;
    reached += t.weight;
    last = t.id;
    if (reached > target) break;
  }
  return last;
}

}  // namespace sticky::engine
