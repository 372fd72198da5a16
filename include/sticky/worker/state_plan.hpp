#pragma once

#include "sticky/engine/options.hpp"
#include "sticky/model/spec.hpp"
#include "sticky/worker/options.hpp"

namespace sticky::worker {

/// The sizes of a state, with every "choose for me" of the options decided.
struct StatePlan {
  engine::Options engine;
  i64 context = 0;    ///< tokens of one sequence
  i64 kv_tokens = 0;  ///< size of the KV cache
  i64 slots = 0;      ///< invocations held at once
};

/// Pure. A CPU's sizes: engine.md §3 measured that 32 sequences fill its GEMMs.
[[nodiscard]] StatePlan plan_state(const model::ModelSpec& spec, const Options& options);

}  // namespace sticky::worker
