#pragma once

#include <string>

#include "sticky/backend/backend.hpp"
#include "sticky/base/types.hpp"
#include "sticky/model/spec.hpp"

namespace sticky::cli {

/// What a worker has to compute, as far as reading the input tells.
struct Workload {
  i64 n_requests = 0;
  i64 prompt_tokens = 0;
  i64 most_new_tokens = 0;  ///< if no answer ends before max_tokens or the context
  i64 n_workers = 1;
  i64 n_sequences = 1;  ///< that one worker runs at once
  i64 n_chunk = 1;      ///< prompt tokens of one step
};

/// Seconds that one worker takes for one weight of a matrix product, times the rows of a step.
struct Pace {
  double prompt_step = 0.0;  ///< of n_chunk rows
  double answer_step = 0.0;  ///< of n_sequences rows
  double measured_seconds = 0.0;
};

struct TimeEstimate {
  double prompt_seconds = 0.0;
  double answer_seconds = 0.0;
};

/// Rows of an answer's step: never more than there are requests for a worker.
[[nodiscard]] i64 rows_of_answer_step(const Workload& work);

/// Multiplies made-up weights, more than caches hold, by as many rows as steps of this workload
/// have; takes about a second. `stores_16_bits`: the model's weights do.
[[nodiscard]] Pace measure_pace(backend::Backend& backend,
                                const model::ModelSpec& spec,
                                const Workload& work,
                                bool stores_16_bits);

/// Matrix products of all tokens at this pace, over all workers: those of the layers for each token
/// and of the head for each answer's. Attention, sampling and loading come on top; beginnings that
/// prompts share, and answers that end early, make it less.
[[nodiscard]] TimeEstimate estimate_time(const model::ModelSpec& spec,
                                         const Workload& work,
                                         const Pace& pace);

}  // namespace sticky::cli
