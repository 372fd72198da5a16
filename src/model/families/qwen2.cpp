// Qwen2, Qwen2.5, DeepSeek-R1-Distill-Qwen: a Llama with biases on q, k and v.
// Judge of every key: Qwen2Config and modeling_qwen2.py of transformers 4 and 5.
#include "families.hpp"
#include "gguf_config.hpp"
#include "hf_config.hpp"
#include "hf_rope.hpp"
#include "qwen_windows.hpp"
#include "tensor_names.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kName = "qwen2";

ModelSpec read_hf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path() + "/config.json");
  ModelSpec spec = read_hf_decoder(config, checkpoint, kName, {.needs_kv_heads = true});
  spec.qkv_bias = true;
  read_hf_rope(config, spec);
  spec.windows = read_qwen_windows(config, spec.n_layers);
  refuse_other_mathematics(config);
  return spec;
}

ModelSpec read_gguf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path(), "qwen2.");
  ModelSpec spec = read_gguf_decoder(config, checkpoint, kName);
  read_gguf_rope(config, checkpoint, spec);
  refuse_unread_gguf(config);
  return spec;
}

TensorTable make_table(const ModelSpec& spec, const Checkpoint& checkpoint) {
  return make_tensor_table(spec, checkpoint, {.names = kLlamaTensors, .hf_unused = kLlamaUnused});
}

}  // namespace

const Family& qwen2() {
  static constexpr Family kQwen2{.name = kName,
                                 .hf_architecture = "Qwen2ForCausalLM",
                                 .gguf_architecture = "qwen2",
                                 .read_hf = read_hf,
                                 .read_gguf = read_gguf,
                                 .tensor_table = make_table};
  return kQwen2;
}

}  // namespace sticky::model
