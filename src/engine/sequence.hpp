#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sticky/base/clock.hpp"
#include "sticky/engine/engine.hpp"
#include "sticky/tokenizer/tokenizer.hpp"

#include "page_pool.hpp"
#include "sampler.hpp"
#include "step_planner.hpp"
#include "stop_matcher.hpp"

namespace sticky::engine {

/// A row of logits is as long as the vocabulary. A step has one for each running sequence, and so
/// many more for the log probabilities of tokens that are known already: of prompts, and those that
/// jobs brought. 64 rows are enough for products at full speed.
inline constexpr i64 kKnownLogitRows = 64;

/// What ends a text besides its own parameters.
struct TextEnds {
  std::vector<i32> eos_ids;
  i64 context = 0;  ///< positions
};

/// One job on its way: its tokens, the pages that hold their keys and values, and its text so far.
class Sequence {
 public:
  /// `number`: order of submission. Hashes of its pages are kept only where they are `shared`.
  Sequence(Job job, i64 number, DrawKey draws, const tokenizer::Tokenizer& tokenizer, bool shared);

  [[nodiscard]] i64 key() const { return job_.key; }
  [[nodiscard]] i64 number() const { return number_; }
  [[nodiscard]] const request::Sampling& sampling() const { return job_.sampling; }
  [[nodiscard]] const std::vector<i32>& tokens() const { return tokens_; }
  [[nodiscard]] const std::vector<i32>& pages() const { return pages_; }
  [[nodiscard]] const TokenCounts& counts() const { return counts_; }
  [[nodiscard]] const DrawKey& draws() const { return draws_; }
  [[nodiscard]] i64 n_prompt() const { return n_prompt_; }
  [[nodiscard]] i64 n_computed() const { return n_computed_; }
  [[nodiscard]] i64 n_output() const { return std::ssize(answer_.token_ids); }
  [[nodiscard]] bool is_computed() const { return n_computed_ == std::ssize(tokens_); }
  [[nodiscard]] bool has_started() const { return has_started_; }
  [[nodiscard]] const std::vector<i32>& output() const { return answer_.token_ids; }
  /// The first position whose logits are asked for: the last token's, or that before the first
  /// token that lacks its log probability.
  [[nodiscard]] i64 first_logits() const;
  /// Whether anything is to be made behind the prompt. Without, its last token is not computed: its
  /// logits would be of no use.
  [[nodiscard]] bool makes_text() const { return sampling().max_tokens != 0; }
  /// Whether tokens of the prompt lack the log probabilities that are asked for.
  [[nodiscard]] bool is_scoring() const;
  /// The first of them, and how many of the best are wanted beside it. Only while is_scoring().
  [[nodiscard]] i32 token_to_score() const;
  [[nodiscard]] i64 n_top_to_score() const { return job_.scoring->n_top; }
  void append_prompt_logprob(request::TokenLogprob logprob);
  /// Whether the token at this position, one of its answer, is the first that lacks its own.
  [[nodiscard]] bool lacks_logprob(i64 position) const;
  [[nodiscard]] SequenceView view() const;

  /// Takes the first n_pages of its pages from the pool, which holds them.
  void take_cached(PagePool& pool, i64 n_pages);
  /// Pages for its first n_tokens tokens.
  void take_pages(PagePool& pool, i64 n_tokens);
  /// Its next n_rows tokens are in their pages now.
  void note_computed(i64 n_rows) { n_computed_ += n_rows; }
  /// Lets other sequences find its full pages, which must be as its tokens alone make them.
  void publish_pages(PagePool& pool);
  void give_back_pages(PagePool& pool);

  /// Tokens that must not come next: while min_tokens are not reached, those that would end it.
  [[nodiscard]] std::vector<i32> banned(const TextEnds& ends) const;
  void append(i32 token);
  /// Takes tokens that were made elsewhere. False when they cannot be the beginning of a longer
  /// answer: then the sequence is of no use any more.
  [[nodiscard]] bool replay(std::span<const i32> made, const TextEnds& ends);
  void append_logprob(request::TokenLogprob logprob);
  /// After append(): takes the token's text and says whether the text has ended.
  [[nodiscard]] bool has_ended(const TextEnds& ends);
  /// There is nothing more to be computed of one that makes no text.
  void end_without_text() { answer_.finish_reason = "length"; }
  /// The outcome will say so.
  void fail(std::string fault) { fault_ = std::move(fault); }
  [[nodiscard]] bool has_failed() const { return !fault_.empty(); }
  [[nodiscard]] Outcome take_outcome(TimePoint now);

  void note_submitted(TimePoint at) { submitted_ = started_ = first_token_ = at; }
  void note_started(TimePoint at);      ///< only the first call counts
  void note_first_token(TimePoint at);  ///< only the first call counts

 private:
  [[nodiscard]] bool ends_by_token(i32 token, const TextEnds& ends) const;
  [[nodiscard]] bool add_text(const std::string& text);
  void hash_full_pages();

  Job job_;
  i64 number_;
  DrawKey draws_;
  bool shares_pages_;
  i64 n_prompt_;
  std::vector<i32> tokens_;  // to be computed: prompt and output, or all but the last of a prompt
  i32 last_of_prompt_;
  TokenCounts counts_;  // empty where no penalty looks at it

  std::vector<i32> pages_;
  std::vector<Hash128> page_hashes_;  // of full pages
  i64 n_published_ = 0;               // pages
  i64 n_computed_ = 0;

  tokenizer::StreamDecoder decoder_;
  StopMatcher stops_;
  request::Answer answer_;
  request::PromptReport prompt_;
  std::string fault_;

  bool has_started_ = false;
  bool has_made_token_ = false;  // here
  TimePoint submitted_;
  TimePoint started_;
  TimePoint first_token_;
};

}  // namespace sticky::engine
