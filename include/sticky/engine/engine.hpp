#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sticky/base/clock.hpp"
#include "sticky/base/hash.hpp"
#include "sticky/engine/options.hpp"
#include "sticky/model/language_model.hpp"
#include "sticky/request/response.hpp"
#include "sticky/request/sampling.hpp"
#include "sticky/tokenizer/tokenizer.hpp"

namespace sticky::engine {

/// Which tokens of a prompt are wanted with their log probabilities: all from `first` on. The very
/// first token (0) is listed without one, for nothing stands before it.
struct Scoring {
  i64 first = 0;
  i64 n_top = 0;  ///< of the most probable tokens beside each
};

/// One text to be made. The caller has checked token ids against limits().vocab and lengths against
/// the context: prompt.size() >= 1 and prompt.size() + 1 <= context. Anything else is a bug.
/// With max_tokens = 0 no text is made: only what `scoring` asks for is computed, and the prompt
/// may be as long as the context.
struct Job {
  i64 key = 0;  ///< the caller's, another for each job; comes back with the outcome
  std::vector<i32> prompt{};
  request::Sampling sampling{};
  Hash128 identity{};  ///< of the request: seeds its draws where it brings no seed
  i64 choice = 0;      ///< which of the request's answers: each draws numbers of its own
  /// Tokens of the answer that an engine with the same model, run seed and arithmetic has made
  /// already: this one goes on behind them, to the same outcome. Tokens that could not stand there
  /// (no token of the model, too many, or the text has ended with them) are not used.
  std::vector<i32> made{};
  std::optional<Scoring> scoring{};
};

/// What became of a job.
struct Outcome {
  i64 key = 0;
  request::Answer answer;
  request::PromptReport prompt;  ///< without text and ids, which the caller has
  std::string fault;             ///< a sentence; empty: all is well. Else the answer is of no use
  double queued_seconds = 0.0;
  double prefill_seconds = 0.0;
  double decode_seconds = 0.0;
};

struct Stats {
  i64 n_steps = 0;
  i64 prompt_tokens = 0;  ///< computed, not found in the cache; again when a sequence is replayed
  i64 cached_tokens = 0;  ///< of prompts, found in the cache
  i64 generated_tokens = 0;  ///< chosen here: not those that jobs brought
  i64 preemptions = 0;       ///< sequences sent back to waiting for want of pages
};

/// Continuous batching over one model: prefill in chunks and decode share steps. An answer depends
/// on its job, the model and the arithmetic only: not on neighbours, order, batch size, cache hits
/// or preemption. That asks one thing of the model: keys, values and logits of a position are the
/// same bits whatever rows it shares a step with. One thread uses an Engine.
///
/// A text ends, whatever comes first,
/// - with a token of eos_ids (unless ignore_eos) or stop_token_ids: "stop"; the token is in
///   token_ids and not in the text;
/// - when a stop string is complete: "stop"; the text is cut before it (or behind it, with
///   include_stop_str_in_output), token_ids end with the token that completed it;
/// - after max_tokens tokens or with the context: "length".
/// While there are fewer than min_tokens tokens, the first kind is never chosen and the second not
/// looked for. Special tokens that end nothing are left out of the text.
///
/// Tokens that a job brings (made) are computed as those of a preempted sequence are once more: as
/// its prompt goes on, in chunks, choosing nothing; their log probabilities are computed with them.
///
/// Positions whose logits tell of a prompt's token are computed even where the cache holds them. A
/// step has a bounded number of them, so that a long prompt needs no memory of length x vocabulary.
///
/// Log probabilities are of the model's own logits, before bias, penalties and temperature; -9999
/// stands for those below it. Where one of the model's logits is NaN or infinite, the weights or
/// the arithmetic have failed, and whatever were chosen would be no answer: the job ends with a
/// fault, and no later job finds its pages. Others in the same step are as if it were not there.
class Engine {
 public:
  /// eos_ids: tokens that end a text. `tokenizer`, `model` and `clock` outlive the engine.
  /// ConfigError when the model's pages do not hold one sequence as long as its context.
  Engine(model::LanguageModel& model,
         const tokenizer::Tokenizer& tokenizer,
         std::vector<i32> eos_ids,
         const Options& options,
         const Clock& clock);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void submit(Job job);
  /// Forgets a job that has not finished, wherever it is, and gives the tokens of its answer so far
  /// (for Job::made elsewhere); nothing when it is not here (any more).
  std::optional<std::vector<i32>> cancel(i64 key);
  /// Whether a job has ended and its outcome comes with the next step().
  [[nodiscard]] bool is_finished(i64 key) const;
  /// Whether a job is here and nothing of it was computed yet.
  [[nodiscard]] bool is_untouched(i64 key) const;
  /// Runs one step and gives what finished in it. With nothing to do: returns at once with nothing.
  /// Throws DeviceError when the device is lost.
  [[nodiscard]] std::vector<Outcome> step();
  [[nodiscard]] bool idle() const;
  [[nodiscard]] i64 n_jobs() const;  ///< submitted and not finished
  [[nodiscard]] const Stats& stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sticky::engine
