#include "sticky/model/memory_plan.hpp"

#include <algorithm>

#include "kernels/kv_pages.hpp"
#include "sticky/base/counted.hpp"
#include "sticky/base/error.hpp"

#include "families.hpp"
#include "step_buffers.hpp"
#include "weights.hpp"

namespace sticky::model {

namespace {

constexpr i64 kMostFullSequences = 64;

i64 element_bytes(checkpoint::Storage storage, DType weight_dtype) {
  return size_bytes(storage == checkpoint::Storage::bf16 ? DType::bf16 : weight_dtype);
}

void add_weights(MemoryPlan& plan,
                 const std::vector<FoundTensor>& tensors,
                 const ModelSpec& spec,
                 DType weight_dtype) {
  for (const FoundTensor& t : tensors) {
    const i64 elements = t.rows() * t.cols();
    const bool is_vector = t.stored.shape.size() == 1;
    const i64 bytes = elements * (is_vector ? size_bytes(DType::f32)
                                            : element_bytes(t.stored.storage, weight_dtype));
    const bool is_embedding = t.place.role == Role::embedding;
    if (t.place.role == Role::positions) {
      plan.position_table_bytes += elements * size_bytes(DType::f32);
      continue;
    }
    if (is_embedding)
      plan.embedding_bytes +=
          elements * size_bytes(embedding_dtype(t.stored.storage, weight_dtype));
    if (!is_embedding || spec.tied_head) plan.weight_bytes += bytes;
  }
}

}  // namespace

MemoryPlan plan_memory(const checkpoint::Checkpoint& checkpoint,
                       const LoadOptions& options,
                       DType weight_dtype,
                       i64 free_bytes) {
  const ModelSpec spec = read_spec(checkpoint);
  if (options.context > spec.context) {
    fail<ConfigError>("{}: a context of {} is asked for, but the model was made for {}",
                      checkpoint.path(), counted(options.context, "token"), spec.context);
  }
  MemoryPlan plan;
  plan.context = options.context > 0 ? options.context : spec.context;
  const auto tensors =
      find_tensors(family_of(checkpoint).tensor_table(spec, checkpoint), checkpoint);
  add_weights(plan, tensors, spec, weight_dtype);
  plan.position_table_bytes +=
      plan.context * spec.rotary_dim * size_bytes(DType::f32) * (spec.window_rope ? 2 : 1);
  plan.step_bytes = StepBuffers::n_bytes(spec, options.max_batch_tokens);
  const i64 per_page = kPageTokens * kv_bytes_per_token(spec, size_bytes(DType::f32));
  i64 n_pages = (options.kv_tokens + kPageTokens - 1) / kPageTokens;
  if (options.kv_tokens == 0) {
    const auto budget = static_cast<i64>(options.memory_share * static_cast<double>(free_bytes));
    const i64 most = kMostFullSequences * ((plan.context + kPageTokens - 1) / kPageTokens);
    n_pages = std::clamp((budget - plan.fixed_bytes()) / per_page, i64{0}, most);
  }
  plan.kv_tokens = n_pages * kPageTokens;
  plan.kv_bytes = n_pages * per_page;
  return plan;
}

void check_room(const MemoryPlan& plan, const LoadOptions& options, i64 free_bytes) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  const auto gib = [](i64 bytes) { return static_cast<double>(bytes) / kGiB; };
  // An automatic size must hold one sequence of full length; one asked for is taken as it is.
  const i64 least = options.kv_tokens > 0 ? 1 : plan.context;
  if (plan.total_bytes() <= free_bytes && plan.kv_tokens >= least) return;
  fail<ConfigError>(
      "the model does not fit: {:.2f} GiB free, of which at most {:.0f} % may be used; weights "
      "{:.2f} "
      "GiB, embedding {:.2f} GiB, position tables {:.2f} GiB, step buffers {:.2f} GiB, and KV "
      "cache "
      "{:.2f} GiB for {} tokens (one sequence has up to {}); make the context or the batch smaller",
      gib(free_bytes), options.memory_share * 100.0, gib(plan.weight_bytes),
      gib(plan.embedding_bytes), gib(plan.position_table_bytes), gib(plan.step_bytes),
      gib(plan.kv_bytes), plan.kv_tokens, plan.context);
}

}  // namespace sticky::model
