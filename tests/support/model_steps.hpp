#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <span>
#include <vector>

#include "sticky/base/check.hpp"
#include "sticky/model/language_model.hpp"

namespace sticky::test {

/// Feeds sequences to a language model step by step, as an engine would, but only what a test asks
/// for. A sequence's pages are taken from the end and the front of the pool in turn, so that no
/// two of its neighbours lie side by side.
class ModelSteps {
 public:
  explicit ModelSteps(model::LanguageModel& model) : model_(model), limits_(model.limits()) {
    for (i64 page = 0; page < limits_.n_pages; ++page)
      free_.push_back(static_cast<i32>(page));
  }

  struct Part {
    i64 sequence = 0;  ///< from 0; a new number is a new sequence
    std::vector<i32> tokens;
    bool logits_of_all = false;  ///< of every token, else of the last alone
  };
  /// One step. Gives the logits asked for, row by row, in the order of the parts.
  std::vector<std::vector<float>> step(const std::vector<Part>& parts) {
    model::StepBatch batch;
    for (const Part& part : parts)
      reserve(part);
    for (const Part& part : parts) {
      Sequence& s = sequences_[static_cast<std::size_t>(part.sequence)];
      const auto first = static_cast<i64>(batch.tokens.size());
      const auto n = static_cast<i64>(part.tokens.size());
      batch.sequences.push_back({first, n, s.n_tokens, s.pages});
      batch.tokens.insert(batch.tokens.end(), part.tokens.begin(), part.tokens.end());
      for (i64 row = part.logits_of_all ? 0 : n - 1; row < n; ++row)
        batch.logit_rows.push_back(static_cast<i32>(first + row));
      s.n_tokens += n;
    }
    const auto n_rows = static_cast<i64>(batch.logit_rows.size());
    std::vector<float> flat(static_cast<std::size_t>(n_rows * limits_.vocab));
    model_.forward(batch, {flat.data(), n_rows, limits_.vocab, limits_.vocab});
    std::vector<std::vector<float>> rows;
    for (i64 r = 0; r < n_rows; ++r)
      rows.emplace_back(flat.begin() + r * limits_.vocab, flat.begin() + (r + 1) * limits_.vocab);
    return rows;
  }

 private:
  struct Sequence {
    i64 n_tokens = 0;
    std::vector<i32> pages;
  };
  void reserve(const Part& part) {
    if (part.sequence == static_cast<i64>(sequences_.size())) sequences_.emplace_back();
    Sequence& s = sequences_.at(static_cast<std::size_t>(part.sequence));
    const i64 n = s.n_tokens + static_cast<i64>(part.tokens.size());
    while (static_cast<i64>(s.pages.size()) * kPageTokens < n) {
      STICKY_CHECK(!free_.empty());
      const bool from_end = s.pages.size() % 2 == 0;
      s.pages.push_back(from_end ? free_.back() : free_.front());
      from_end ? free_.pop_back() : free_.pop_front();
    }
  }

  model::LanguageModel& model_;
  model::Limits limits_;
  std::deque<i32> free_;
  std::vector<Sequence> sequences_;
};

/// Log-probability of `id`, in double.
inline double logprob(std::span<const float> logits, i32 id) {
  double most = -INFINITY;
  for (const float x : logits)
    most = std::max(most, double{x});
  double sum = 0.0;
  for (const float x : logits)
    sum += std::exp(double{x} - most);
  return double{logits[static_cast<std::size_t>(id)]} - most - std::log(sum);
}

/// The lowest id of the largest logit.
inline i32 argmax(std::span<const float> logits) {
  return static_cast<i32>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace sticky::test
