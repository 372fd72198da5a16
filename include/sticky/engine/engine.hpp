#pragma once

#include <memory>
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

/// One text to be made. The caller has checked token ids against limits().vocab and lengths against
/// the context: prompt.size() >= 1 and prompt.size() + 1 <= context.
struct Job {
  i64 key = 0;  ///< the caller's; comes back with the outcome
  std::vector<i32> prompt;
  request::Sampling sampling;
  Hash128 identity;  ///< of the request: seeds its draws where it brings no seed
};

/// What became of a job.
struct Outcome {
  i64 key = 0;
  request::Answer answer;  ///< prompt_token_ids stays empty: the caller has them
  double queued_seconds = 0.0;
  double prefill_seconds = 0.0;
  double decode_seconds = 0.0;
};

struct Stats {
  i64 n_steps = 0;
  i64 prompt_tokens = 0;  ///< computed, not found in the cache
  i64 cached_tokens = 0;
  i64 generated_tokens = 0;
  i64 preemptions = 0;  ///< sequences sent back to waiting for want of pages
};

/// Continuous batching over one model: prefill in chunks and decode share steps. An answer depends
/// on its job, the model and the arithmetic only: not on neighbours, order, batch size, cache hits
/// or preemption. One thread uses an Engine.
class Engine {
 public:
  /// eos_ids: tokens that end a text. `tokenizer` and `model` outlive the engine.
  Engine(model::LanguageModel& model,
         const tokenizer::Tokenizer& tokenizer,
         std::vector<i32> eos_ids,
         const Options& options,
         const Clock& clock);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void submit(Job job);
  /// Forgets a job that has not finished, wherever it is; false when it is not here (any more).
  bool cancel(i64 key);
  /// Runs one step and gives what finished in it. With nothing to do: returns at once with nothing.
  /// Throws DeviceError when the device is lost; no job can fail otherwise.
  [[nodiscard]] std::vector<Outcome> step();
  [[nodiscard]] bool idle() const;
  [[nodiscard]] i64 n_jobs() const;  ///< submitted and not finished
  [[nodiscard]] const Stats& stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sticky::engine
