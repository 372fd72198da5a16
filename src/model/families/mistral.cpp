// Mistral and Mistral Nemo: a Llama whose layers all look back over one window (Nemo: over all).
// Judge of every key: MistralConfig and modeling_mistral.py of transformers 4 and 5.
#include "families.hpp"
#include "hf_config.hpp"
#include "hf_rope.hpp"
#include "tensor_names.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kName = "mistral";

ModelSpec read_hf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path() + "/config.json");
  ModelSpec spec = read_hf_decoder(config, checkpoint, kName, {.needs_kv_heads = true});
  read_hf_rope(config, spec);
  // Without the key there is a window; null switches it off.
  if (const auto window = config.count_unless_null("sliding_window", 4096))
    spec.windows.assign(static_cast<std::size_t>(spec.n_layers), *window);
  refuse_other_mathematics(config);
  return spec;
}

TensorTable make_table(const ModelSpec& spec, const Checkpoint& checkpoint) {
  return make_tensor_table(spec, checkpoint, {.names = kLlamaTensors, .hf_unused = kLlamaUnused});
}

}  // namespace

const Family& mistral() {
  static constexpr Family kMistral{.name = kName,
                                   .hf_architecture = "MistralForCausalLM",
                                   .gguf_architecture = "",
                                   .read_hf = read_hf,
                                   .tensor_table = make_table};
  return kMistral;
}

}  // namespace sticky::model
