#pragma once

#include "sticky/checkpoint/checkpoint.hpp"
#include "sticky/model/load_model.hpp"
#include "sticky/model/spec.hpp"

namespace sticky::model {

/// Bytes of device memory that a loaded model takes, by part.
struct MemoryPlan {
  i64 weight_bytes = 0;          ///< matrices of layers and head, norms, biases
  i64 embedding_bytes = 0;       ///< the table that tokens are looked up in
  i64 position_table_bytes = 0;  ///< cosines and sines, or learned positions
  i64 step_bytes = 0;            ///< activations of one step
  i64 kv_bytes = 0;              ///< keys and values
  i64 kv_tokens = 0;             ///< tokens that kv_bytes hold: whole pages
  i64 context = 0;               ///< positions of one sequence

  /// All parts but the KV cache.
  [[nodiscard]] i64 fixed_bytes() const {
    return weight_bytes + embedding_bytes + position_table_bytes + step_bytes;
  }
  [[nodiscard]] i64 total_bytes() const { return fixed_bytes() + kv_bytes; }
};

/// What loading this checkpoint takes on a device with free_bytes free that rounds its weights to
/// weight_dtype. A matrix counts as many bits as it needs to be held exactly, or 16 where it is
/// rounded to bf16; a backend's padding comes on top.
/// options.kv_tokens = 0: what memory_share of free_bytes leaves after the other parts, at most 64
/// sequences of full length, at least 0. Nothing is refused here: see check_room().
/// ConfigError when options.context is above the model's, FormatError as read_spec().
[[nodiscard]] MemoryPlan plan_memory(const checkpoint::Checkpoint& checkpoint,
                                     const LoadOptions& options,
                                     DType weight_dtype,
                                     i64 free_bytes);

/// ConfigError, with the size of each part, when the plan needs more than free_bytes, or its KV
/// cache cannot hold one sequence of full length although its size was left to the plan.
void check_room(const MemoryPlan& plan, const LoadOptions& options, i64 free_bytes);

}  // namespace sticky::model
