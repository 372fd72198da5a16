// GPT-NeoX and Pythia: layer norms with biases, rotary positions on a part of each head, the MLP
// beside attention, q, k and v of each head beside each other.
// Judge of every key: GPTNeoXConfig and modeling_gpt_neox.py of transformers 4 and 5.
#include <array>

#include "families.hpp"
#include "gguf_config.hpp"
#include "hf_config.hpp"
#include "hf_rope.hpp"
#include "tensor_names.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kName = "gpt_neox";

ModelSpec read_hf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path() + "/config.json");
  ModelSpec spec = read_hf_decoder(
      config, checkpoint, kName,
      {.norm_eps = "layer_norm_eps", .default_activation = "gelu", .may_share_kv_heads = false});
  spec.norm = NormKind::layer;
  spec.norm_bias = true;
  spec.gated_mlp = false;
  spec.mlp_bias = true;
  spec.qkv_bias = config.flag_or("attention_bias", true);
  spec.output_bias = spec.qkv_bias;
  if (config.flag_or("use_parallel_residual", true)) spec.mlp_place = MlpPlace::beside;
  read_hf_rope(config, spec,
               {.theta = "rotary_emb_base",
                .may_be_partial = true,
                .partial = "rotary_pct",
                .default_partial = 0.25});
  refuse_other_mathematics(config);
  return spec;
}

ModelSpec read_gguf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path(), "gptneox.");
  ModelSpec spec = read_gguf_decoder(config, checkpoint, kName, NormKind::layer);
  spec.gated_mlp = false;
  // GGUF has no key for it. Pythia and most others have the exact one; of the published models only
  // GPT-NeoX-20B, which is told by its sizes, does not.
  const bool is_20b = spec.n_layers == 44 && spec.d_model == 6144;
  spec.activation = is_20b ? Activation::gelu_tanh : Activation::gelu_erf;
  if (config.flag_or("use_parallel_residual", true)) spec.mlp_place = MlpPlace::beside;
  read_gguf_rope(config, checkpoint, spec, true);
  refuse_unread_gguf(config);
  return spec;
}

constexpr std::array<TensorName, 9> kTensors{{
    {Role::embedding, "embed_in", "token_embd"},
    {Role::attention_norm, "input_layernorm", "attn_norm"},
    {Role::q, "attention.query_key_value", "attn_qkv", Fused::qkv_by_head},
    {Role::o, "attention.dense", "attn_output"},
    {Role::mlp_norm, "post_attention_layernorm", "ffn_norm"},
    {Role::up, "mlp.dense_h_to_4h", "ffn_up"},
    {Role::down, "mlp.dense_4h_to_h", "ffn_down"},
    {Role::final_norm, "final_layer_norm", "output_norm"},
    {Role::head, "lm_head", "output"},
}};
// Causal masks and frequencies, which older versions kept as tensors.
constexpr std::array<std::string_view, 3> kUnused{"attention.bias", "attention.masked_bias",
                                                  "attention.rotary_emb.inv_freq"};

TensorTable make_table(const ModelSpec& spec, const Checkpoint& checkpoint) {
  TensorTable table = make_tensor_table(
      spec, checkpoint, {.hf_root = "gpt_neox.", .names = kTensors, .hf_unused = kUnused});
  // Its name before transformers 5.
  if (checkpoint.find("embed_out.weight") != nullptr) {
    for (TensorPlace& place : table.places) {
      if (place.role == Role::head) place.name = "embed_out.weight";
    }
  }
  return table;
}

}  // namespace

const Family& gpt_neox() {
  static constexpr Family kGptNeox{.name = kName,
                                   .hf_architecture = "GPTNeoXForCausalLM",
                                   .gguf_architecture = "gptneox",
                                   .read_hf = read_hf,
                                   .read_gguf = read_gguf,
                                   .tensor_table = make_table};
  return kGptNeox;
}

}  // namespace sticky::model
