#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sticky/model/memory_plan.hpp"
#include "sticky/model/spec.hpp"

namespace sticky::model {

/// Tensors of one storage format.
struct StorageShare {
  std::string storage;  ///< "bf16", "q4_1", …
  i64 n_tensors = 0;
  i64 n_elements = 0;
  i64 n_bytes = 0;  ///< in the file
};

/// What a checkpoint holds and whether it can run here.
struct Description {
  std::string form;  ///< "GGUF file" or "Hugging Face folder"
  i64 n_parameters = 0;
  std::vector<StorageShare> storage;  ///< largest first
  std::optional<ModelSpec> spec;      ///< none: `obstacle` says why
  MemoryPlan memory;                  ///< all zero without a spec
  bool can_run = false;
  std::string obstacle;  ///< a sentence; empty when it can run
};

/// Never throws for what is wrong with the model: that becomes `obstacle`. (Opening the checkpoint
/// has validated its files already.)
[[nodiscard]] Description describe(const checkpoint::Checkpoint& checkpoint,
                                   const LoadOptions& options,
                                   DType weight_dtype,
                                   i64 free_bytes);

}  // namespace sticky::model
