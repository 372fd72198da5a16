#include "sticky/worker/state_plan.hpp"

#include <algorithm>

namespace sticky::worker {

StatePlan plan_state(const model::ModelSpec& spec, const Options& options) {
  constexpr i64 kSequences = 64;
  constexpr i64 kBatchTokens = 512;
  constexpr i64 kContext = 4096;  // longer only where asked for: it is paid in memory
  constexpr i64 kUsualTokens =
      256;  // of one sequence; longer ones are rare, and preemption covers them
  StatePlan plan;
  plan.engine = options.engine;
  if (plan.engine.max_sequences == 0) plan.engine.max_sequences = kSequences;
  if (plan.engine.max_batch_tokens == 0) plan.engine.max_batch_tokens = kBatchTokens;
  plan.engine.max_batch_tokens = std::max(plan.engine.max_batch_tokens, plan.engine.max_sequences);
  plan.context =
      options.state.context > 0 ? options.state.context : std::min(spec.context, kContext);
  plan.kv_tokens = std::max(2 * plan.context, plan.engine.max_sequences * kUsualTokens);
  plan.slots = plan.engine.max_sequences + std::max<i64>(1, plan.engine.max_sequences / 2);
  return plan;
}

}  // namespace sticky::worker
