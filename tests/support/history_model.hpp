#pragma once

#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "kernels/kv_pages.hpp"
#include "sticky/model/language_model.hpp"

namespace sticky::test {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a ^ (b + 0x9e3779b97f4a7c15U + (a << 6U) + (a >> 2U));
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// What a history comes to, token by token from kNoHistory on.
inline constexpr std::uint64_t kNoHistory = 1;
inline std::uint64_t extended(std::uint64_t state, i32 token) {
  return mix(state, static_cast<std::uint64_t>(token));
}

/// Logits in [-4, 4) that depend on every token of a history and its place.
inline void history_logits(std::span<const i32> history, std::span<float> logits) {
  std::uint64_t state = kNoHistory;
  for (const i32 token : history)
    state = extended(state, token);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    logits[i] = static_cast<float>(mix(state, i) >> 40U) * 0x1p-21F - 4.0F;
  }
}

/// A language model whose next token depends on the whole history as it stands in the KV pages. As
/// keys and values do, a slot holds what its token and all before it come to; logits are
/// history_logits() of the tokens that the page table leads to. So wrong pages, positions or
/// sharing give wrong tokens, or an exception where a slot shows that it is of another history.
class HistoryModel final : public model::LanguageModel {
 public:
  explicit HistoryModel(const model::Limits& limits)
      : limits_(limits),
        slots_(static_cast<std::size_t>(limits.n_pages * kPageTokens)) {}

  [[nodiscard]] model::Limits limits() const override { return limits_; }
  [[nodiscard]] i64 n_rows_of_largest_step() const { return n_rows_of_largest_step_; }
  [[nodiscard]] i64 n_logit_rows_of_largest_step() const { return n_logit_rows_of_largest_step_; }
  [[nodiscard]] i64 n_sequences_of_largest_step() const { return n_sequences_of_largest_step_; }

  void forward(const model::StepBatch& batch, Rows<float> logits) override {
    write_all(batch);
    const auto n_logit_rows = static_cast<i64>(batch.logit_rows.size());
    n_logit_rows_of_largest_step_ = std::max(n_logit_rows_of_largest_step_, n_logit_rows);
    if (logits.rows != n_logit_rows || logits.cols != limits_.vocab) wrong("shape of logits");
    for (i64 i = 0; i < n_logit_rows; ++i) {
      const i32 row = batch.logit_rows[static_cast<std::size_t>(i)];
      if (i > 0 && row <= batch.logit_rows[static_cast<std::size_t>(i - 1)]) wrong("logit rows");
      read_history(batch, row);
      history_logits(history_, {logits.row(i), static_cast<std::size_t>(logits.cols)});
    }
  }

 private:
  struct Slot {
    i32 token = -1;
    i64 position = -1;
    std::uint64_t state = 0;
  };

  [[noreturn]] static void wrong(const char* what) {
    throw std::logic_error(fmt::format("step batch: {}", what));
  }

  Slot& slot(const SequenceRows& rows, i64 position) {
    const auto page = static_cast<std::size_t>(position / kPageTokens);
    if (page >= rows.pages.size()) wrong("a position without a page");
    const i64 at = rows.pages[page] * kPageTokens + position % kPageTokens;
    return slots_.at(static_cast<std::size_t>(at));
  }

  void write_all(const model::StepBatch& batch) {
    i64 row = 0;
    std::set<const Slot*> written;
    for (const SequenceRows& rows : batch.sequences) {
      if (rows.first_row != row || rows.n_rows < 1) wrong("rows of a sequence");
      for (i64 i = 0; i < rows.n_rows; ++i, ++row) {
        const i64 position = rows.first_position + i;
        if (position >= limits_.context) wrong("a position behind the context");
        Slot& s = slot(rows, position);
        if (!written.insert(&s).second) wrong("a slot written twice");
        const i32 token = batch.tokens.at(static_cast<std::size_t>(row));
        const std::uint64_t before = position == 0 ? kNoHistory : slot(rows, position - 1).state;
        s = {token, position, extended(before, token)};
        if (s.token < 0 || s.token >= limits_.vocab) wrong("a token behind the vocabulary");
      }
    }
    if (row != static_cast<i64>(batch.tokens.size())) wrong("number of rows");
    n_rows_of_largest_step_ = std::max(n_rows_of_largest_step_, row);
    n_sequences_of_largest_step_ =
        std::max(n_sequences_of_largest_step_, static_cast<i64>(batch.sequences.size()));
  }

  void read_history(const model::StepBatch& batch, i64 row) {
    for (const SequenceRows& rows : batch.sequences) {
      if (row < rows.first_row || row >= rows.first_row + rows.n_rows) continue;
      const i64 last = rows.first_position + row - rows.first_row;
      history_.clear();
      std::uint64_t state = kNoHistory;
      for (i64 position = 0; position <= last; ++position) {
        const Slot& s = slot(rows, position);
        state = extended(state, s.token);
        if (s.position != position) wrong("a slot that another position was written to");
        if (s.state != state) wrong("a slot that was written behind another history");
        history_.push_back(s.token);
      }
      return;
    }
    wrong("a logit row without a sequence");
  }

  model::Limits limits_;
  std::vector<Slot> slots_;
  std::vector<i32> history_;
  i64 n_rows_of_largest_step_ = 0;
  i64 n_logit_rows_of_largest_step_ = 0;
  i64 n_sequences_of_largest_step_ = 0;
};

}  // namespace sticky::test
