#include "model_report.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "sticky/backend/make_backend.hpp"
#include "sticky/base/counted.hpp"
#include "sticky/base/error.hpp"
#include "sticky/checkpoint/checkpoint.hpp"
#include "sticky/worker/state_plan.hpp"

#include "progress_line.hpp"

namespace sticky::cli {
namespace {

std::string spec_text(const model::ModelSpec& spec) {
  return fmt::format(
      "  family      {}: {}, d_model {}, d_ff {}, {} ({} for keys and values) of {}\n"
      "  vocabulary  {}\n"
      "  context     {} tokens\n",
      spec.family, counted(spec.n_layers, "layer"), spec.d_model, spec.d_ff,
      counted(spec.n_heads, "head"), spec.n_kv_heads, spec.head_dim, with_commas(spec.vocab),
      with_commas(spec.context));
}

std::string storage_text(const model::Description& description) {
  std::string out;
  for (const auto& share : description.storage) {
    out += fmt::format("  stored as   {}: {}, {} {}, {}\n", share.storage,
                       counted(share.n_tensors, "tensor"), with_commas(share.n_elements),
                       noun_for(share.n_elements, "element"), bytes_text(share.n_bytes));
  }
  return out;
}

std::string memory_text(const model::MemoryPlan& plan) {
  return fmt::format(
      "  memory      {} a worker: weights {}, embedding {}, positions {}, one step {},\n"
      "              keys and values {} ({} tokens; one request has at most {})\n",
      bytes_text(plan.total_bytes()), bytes_text(plan.weight_bytes),
      bytes_text(plan.embedding_bytes), bytes_text(plan.position_table_bytes),
      bytes_text(plan.step_bytes), bytes_text(plan.kv_bytes), with_commas(plan.kv_tokens),
      with_commas(plan.context));
}

}  // namespace

std::string bytes_text(i64 n_bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(n_bytes);
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", n_bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

model::Description describe_model(const worker::Options& options) {
  const auto checkpoint = checkpoint::open_checkpoint(options.state.model);
  backend::Options backend_options = options.backend;
  backend_options.dtype = options.state.dtype;
  const auto backend = backend::make_backend(backend_options);
  model::LoadOptions load{
      .context = options.state.context, .kv_tokens = 0, .memory_share = options.state.memory};
  try {
    const auto plan = worker::plan_state(model::read_spec(*checkpoint), options);
    load = {.context = plan.context,
            .kv_tokens = plan.kv_tokens,
            .memory_share = options.state.memory,
            .max_batch_tokens = plan.engine.max_batch_tokens};
  } catch (const FormatError&) {
    // describe() tells it, with all else that is known of the model.
  }
  return model::describe(*checkpoint, load, backend->weight_dtype(), backend->free_bytes());
}

std::string model_text(const model::Description& description) {
  std::string out = fmt::format("  form        {}, {} parameters\n", description.form,
                                with_commas(description.n_parameters));
  out += storage_text(description);
  if (description.spec) out += spec_text(*description.spec) + memory_text(description.memory);
  return out;
}

}  // namespace sticky::cli
