// The Llama family: RMS norms, rotary positions on whole heads, grouped-query attention, gated MLP.
// Judge of every key: LlamaConfig and modeling_llama.py of transformers 4 and 5; of GGUF: gguf.md
// and llama.cpp's conversion of this architecture.
#include "families.hpp"
#include "gguf_config.hpp"
#include "hf_config.hpp"
#include "hf_rope.hpp"
#include "tensor_names.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kName = "llama";

ModelSpec read_hf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path() + "/config.json");
  ModelSpec spec = read_hf_decoder(config, checkpoint, kName,
                                   {.default_context = 2048, .default_norm_eps = 1e-6});
  spec.qkv_bias = config.flag_or("attention_bias", false);
  spec.output_bias = spec.qkv_bias;
  spec.mlp_bias = config.flag_or("mlp_bias", false);
  read_hf_rope(config, spec);
  if (config.flag_or("rope_interleaved", false))
    config.reject("rope_interleaved", Json(true), "must be false");
  refuse_other_mathematics(config);
  return spec;
}

ModelSpec read_gguf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path(), "llama.");
  ModelSpec spec = read_gguf_decoder(config, checkpoint, kName);
  read_gguf_rope(config, checkpoint, spec);
  // Mistral's files have this architecture too.
  if (const i64 window = read_gguf_window(config, 0); window > 0)
    spec.windows.assign(static_cast<std::size_t>(spec.n_layers), window);
  refuse_unread_gguf(config);
  return spec;
}

TensorTable make_table(const ModelSpec& spec, const Checkpoint& checkpoint) {
  return make_tensor_table(
      spec, checkpoint,
      {.names = kLlamaTensors, .hf_unused = kLlamaUnused, .gguf_rotary_pairs = true});
}

}  // namespace

const Family& llama() {
  static constexpr Family kLlama{.name = kName,
                                 .hf_architecture = "LlamaForCausalLM",
                                 .gguf_architecture = "llama",
                                 .read_hf = read_hf,
                                 .read_gguf = read_gguf,
                                 .tensor_table = make_table};
  return kLlama;
}

}  // namespace sticky::model
