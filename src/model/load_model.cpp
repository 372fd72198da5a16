#include "sticky/model/load_model.hpp"

#include <utility>

#include "sticky/model/memory_plan.hpp"

#include "families.hpp"
#include "transformer.hpp"

namespace sticky::model {

std::unique_ptr<LanguageModel> load_model(
    const checkpoint::Checkpoint& checkpoint,
    std::shared_ptr<backend::Backend> backend,
    const LoadOptions& options,
    const std::function<void(i64 done, i64 total)>& progress) {
  const i64 free_bytes = backend->free_bytes();
  const MemoryPlan plan = plan_memory(checkpoint, options, backend->weight_dtype(), free_bytes);
  check_room(plan, options, free_bytes);
  ModelSpec spec = read_spec(checkpoint);
  const auto tensors =
      find_tensors(family_of(checkpoint).tensor_table(spec, checkpoint), checkpoint);
  Weights weights = load_weights(checkpoint, tensors, spec, *backend, progress);
  return std::make_unique<Transformer>(std::move(backend), std::move(spec), std::move(weights),
                                       plan, options.max_batch_tokens);
}

}  // namespace sticky::model
