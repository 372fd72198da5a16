#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sticky/backend/backend.hpp"
#include "sticky/checkpoint/checkpoint.hpp"
#include "sticky/model/language_model.hpp"
#include "sticky/model/spec.hpp"

namespace sticky::model {

struct LoadOptions {
  i64 context = 0;             ///< positions to make room for; 0: as many as the model was made for
  i64 kv_tokens = 0;           ///< size of the KV cache in tokens; 0: from memory_share
  double memory_share = 0.90;  ///< of the memory free on the device: weights + KV cache
  i64 max_batch_tokens = 512;  ///< rows of one step: sizes the step buffers
};

/// Reads a checkpoint into the backend's memory, once. `progress` is called with bytes read so far
/// and in all. ConfigError when the device is too small (the sum needed and what is free, by part),
/// FormatError when the checkpoint is not what its config says, or needs mathematics that this
/// program does not know.
[[nodiscard]] std::unique_ptr<LanguageModel> load_model(
    const checkpoint::Checkpoint& checkpoint,
    std::shared_ptr<backend::Backend> backend,
    const LoadOptions& options,
    const std::function<void(i64 done, i64 total)>& progress = {});

}  // namespace sticky::model
