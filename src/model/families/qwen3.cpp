// Qwen3: a Llama whose heads of q and k are normed, all with the same weights.
// Judge of every key: Qwen3Config and modeling_qwen3.py of transformers 4 and 5.
#include "families.hpp"
#include "gguf_config.hpp"
#include "hf_config.hpp"
#include "hf_rope.hpp"
#include "qwen_windows.hpp"
#include "tensor_names.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kName = "qwen3";

ModelSpec read_hf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path() + "/config.json");
  ModelSpec spec =
      read_hf_decoder(config, checkpoint, kName, {.default_head_dim = 128, .needs_kv_heads = true});
  spec.qkv_bias = config.flag_or("attention_bias", false);
  spec.output_bias = spec.qkv_bias;
  spec.qk_norm = QkNorm::head;
  read_hf_rope(config, spec);
  spec.windows = read_qwen_windows(config, spec.n_layers);
  refuse_other_mathematics(config);
  return spec;
}

ModelSpec read_gguf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path(), "qwen3.");
  ModelSpec spec = read_gguf_decoder(config, checkpoint, kName);
  spec.qk_norm = QkNorm::head;
  read_gguf_rope(config, checkpoint, spec);
  refuse_unread_gguf(config);
  return spec;
}

TensorTable make_table(const ModelSpec& spec, const Checkpoint& checkpoint) {
  return make_tensor_table(spec, checkpoint, {.names = kLlamaTensors});
}

}  // namespace

const Family& qwen3() {
  static constexpr Family kQwen3{.name = kName,
                                 .hf_architecture = "Qwen3ForCausalLM",
                                 .gguf_architecture = "qwen3",
                                 .read_hf = read_hf,
                                 .read_gguf = read_gguf,
                                 .tensor_table = make_table};
  return kQwen3;
}

}  // namespace sticky::model
