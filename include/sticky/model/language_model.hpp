#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/kv_pages.hpp"
#include "sticky/base/types.hpp"
#include "sticky/tensor/tensor.hpp"

namespace sticky::model {

/// The tokens of one step of all sequences, flattened.
struct StepBatch {
  std::vector<i32> tokens;              ///< [n_tokens]
  std::vector<SequenceRows> sequences;  ///< in order, covering every row once
  std::vector<i32> logit_rows;          ///< rows whose next-token logits are wanted, ascending
};

struct Limits {
  i64 vocab = 0;    ///< rows of the embedding: every id below it may be fed
  i64 context = 0;  ///< positions that the model was made for
  i64 n_pages = 0;  ///< pages of kPageTokens that its KV cache holds
};

/// What the engine needs of a model. The real one is Transformer; tests give others.
class LanguageModel {
 public:
  LanguageModel() = default;
  LanguageModel(const LanguageModel&) = delete;
  LanguageModel& operator=(const LanguageModel&) = delete;
  virtual ~LanguageModel() = default;

  [[nodiscard]] virtual Limits limits() const = 0;
  /// Runs one step: writes keys and values of all rows to their pages and the logits of
  /// batch.logit_rows[i] to logits row i, in f32. logits is [logit_rows.size(), vocab], host
  /// memory.
  virtual void forward(const StepBatch& batch, Rows<float> logits) = 0;
};

}  // namespace sticky::model
