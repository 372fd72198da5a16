// OLMo 2: norms behind attention and MLP and none before them; all heads of q normed together, and
// those of k.
// Judge of every key: Olmo2Config and modeling_olmo2.py of transformers 4 and 5.
#include "families.hpp"
#include "gguf_config.hpp"
#include "hf_config.hpp"
#include "hf_rope.hpp"
#include "tensor_names.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kName = "olmo2";

ModelSpec read_hf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path() + "/config.json");
  ModelSpec spec = read_hf_decoder(config, checkpoint, kName);
  spec.pre_norms = false;
  spec.post_norms = true;
  spec.qk_norm = QkNorm::whole;
  spec.qkv_bias = config.flag_or("attention_bias", false);
  spec.output_bias = spec.qkv_bias;
  read_hf_rope(config, spec);
  refuse_other_mathematics(config);
  return spec;
}

ModelSpec read_gguf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path(), "olmo2.");
  ModelSpec spec = read_gguf_decoder(config, checkpoint, kName);
  spec.pre_norms = false;
  spec.post_norms = true;
  spec.qk_norm = QkNorm::whole;
  read_gguf_rope(config, checkpoint, spec);
  refuse_unread_gguf(config);
  return spec;
}

TensorTable make_table(const ModelSpec& spec, const Checkpoint& checkpoint) {
  return make_tensor_table(spec, checkpoint, {.names = kPostNormTensors});
}

}  // namespace

const Family& olmo2() {
  static constexpr Family kOlmo2{.name = kName,
                                 .hf_architecture = "Olmo2ForCausalLM",
                                 .gguf_architecture = "olmo2",
                                 .read_hf = read_hf,
                                 .read_gguf = read_gguf,
                                 .tensor_table = make_table};
  return kOlmo2;
}

}  // namespace sticky::model
