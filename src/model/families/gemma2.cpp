// Gemma 2: norms before and behind attention and MLP, capped scores and logits, a window in every
// other layer.
// Judge of every key: Gemma2Config and modeling_gemma2.py of transformers 4 and 5.
#include <cmath>

#include "families.hpp"
#include "gemma.hpp"
#include "gguf_config.hpp"
#include "hf_rope.hpp"
#include "tensor_names.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kName = "gemma2";

ModelSpec read_hf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path() + "/config.json");
  ModelSpec spec = read_gemma(config, checkpoint, kName);
  read_hf_rope(config, spec);
  const auto cap = [&](std::string_view key, double otherwise) {
    return static_cast<float>(config.number_unless_null(key, otherwise).value_or(0.0));
  };
  spec.attention_softcap = cap("attn_logit_softcapping", 50.0);
  spec.logit_softcap = cap("final_logit_softcapping", 30.0);
  const i64 window = config.count_unless_null("sliding_window", 4096).value_or(0);
  spec.windows =
      read_windows(config, spec.n_layers, window, [](i64 layer) { return layer % 2 == 0; });
  refuse_other_mathematics(config);
  return spec;
}

ModelSpec read_gguf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path(), "gemma2.");
  ModelSpec spec = read_gguf_gemma(config, checkpoint, kName, 46);
  read_gguf_rope(config, checkpoint, spec);
  spec.attention_softcap = static_cast<float>(config.number_or("attn_logit_softcapping", 50.0));
  spec.logit_softcap = static_cast<float>(config.number_or("final_logit_softcapping", 30.0));
  spec.windows = read_gguf_windows(config, spec.n_layers, read_gguf_window(config, 4096), 2);
  refuse_unread_gguf(config);
  return spec;
}

TensorTable make_table(const ModelSpec& spec, const Checkpoint& checkpoint) {
  return make_tensor_table(spec, checkpoint, {.names = kPostNormTensors});
}

}  // namespace

ModelSpec read_gemma(ConfigReader& config,
                     const checkpoint::Checkpoint& checkpoint,
                     std::string_view family) {
  ModelSpec spec = read_hf_decoder(config, checkpoint, family,
                                   {.activation = "hidden_activation",
                                    .default_activation = "gelu_pytorch_tanh",
                                    .default_head_dim = 256,
                                    .needs_kv_heads = true,
                                    .tied_head = true});
  config.accept_any({"hidden_act"});  // of the first published configs, and not used
  spec.embedding_scale = std::sqrt(static_cast<double>(spec.d_model));
  spec.norm_offset = 1.0F;
  spec.post_norms = true;
  spec.attention_scale =
      static_cast<float>(1.0 / std::sqrt(config.number_or("query_pre_attn_scalar", 256.0)));
  spec.qkv_bias = config.flag_or("attention_bias", false);
  spec.output_bias = spec.qkv_bias;
  return spec;
}

ModelSpec read_gguf_gemma(ConfigReader& config,
                          const checkpoint::Checkpoint& checkpoint,
                          std::string_view family,
                          i64 n_layers_of_27b) {
  ModelSpec spec = read_gguf_decoder(config, checkpoint, family);
  spec.activation = Activation::gelu_tanh;
  spec.embedding_scale = std::sqrt(static_cast<double>(spec.d_model));
  spec.norm_offset = 1.0F;
  spec.post_norms = true;
  if (spec.n_layers == n_layers_of_27b)
    spec.attention_scale = usual_attention_scale(spec.d_model / spec.n_heads);
  return spec;
}

const Family& gemma2() {
  static constexpr Family kGemma2{.name = kName,
                                  .hf_architecture = "Gemma2ForCausalLM",
                                  .gguf_architecture = "gemma2",
                                  .read_hf = read_hf,
                                  .read_gguf = read_gguf,
                                  .tensor_table = make_table};
  return kGemma2;
}

}  // namespace sticky::model
