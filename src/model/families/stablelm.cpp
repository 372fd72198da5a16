// StableLM 2: layer norms with biases, rotary positions on a part of each head; the 12B model has
// normed heads and its MLP beside attention.
// Judge of every key: StableLmConfig and modeling_stablelm.py of transformers 4 and 5.
#include <array>

#include "families.hpp"
#include "gguf_config.hpp"
#include "hf_config.hpp"
#include "hf_rope.hpp"
#include "tensor_names.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kName = "stablelm";

ModelSpec read_hf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path() + "/config.json");
  ModelSpec spec = read_hf_decoder(config, checkpoint, kName,
                                   {.norm_eps = "layer_norm_eps", .needs_kv_heads = true});
  spec.norm = NormKind::layer;
  spec.norm_bias = true;
  spec.qkv_bias = config.flag_or("use_qkv_bias", false);
  if (config.flag_or("qk_layernorm", false)) spec.qk_norm = QkNorm::each_head;
  if (config.flag_or("use_parallel_residual", false)) spec.mlp_place = MlpPlace::beside_same_norm;
  read_hf_rope(config, spec, {.may_be_partial = true, .default_partial = 0.25});
  refuse_other_mathematics(config);
  return spec;
}

ModelSpec read_gguf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path(), "stablelm.");
  ModelSpec spec = read_gguf_decoder(config, checkpoint, kName, NormKind::layer);
  const auto has = [&](const char* name) { return checkpoint.find(name) != nullptr; };
  if (has("blk.0.attn_q_norm.weight")) spec.qk_norm = QkNorm::each_head;
  // use_parallel_residual is true in files of models that have the norm, too: it decides.
  if (!has("blk.0.ffn_norm.weight")) spec.mlp_place = MlpPlace::beside_same_norm;
  config.accept_any({"use_parallel_residual"});
  read_gguf_rope(config, checkpoint, spec, true);
  refuse_unread_gguf(config);
  return spec;
}

constexpr std::array<TensorName, 14> kTensors{{
    {Role::embedding, "embed_tokens", "token_embd"},
    {Role::attention_norm, "input_layernorm", "attn_norm"},
    {Role::q, "self_attn.q_proj", "attn_q"},
    {Role::k, "self_attn.k_proj", "attn_k"},
    {Role::v, "self_attn.v_proj", "attn_v"},
    {Role::q_norm, "self_attn.q_layernorm.norms.*", "attn_q_norm"},
    {Role::k_norm, "self_attn.k_layernorm.norms.*", "attn_k_norm"},
    {Role::o, "self_attn.o_proj", "attn_output"},
    {Role::mlp_norm, "post_attention_layernorm", "ffn_norm"},
    {Role::gate, "mlp.gate_proj", "ffn_gate"},
    {Role::up, "mlp.up_proj", "ffn_up"},
    {Role::down, "mlp.down_proj", "ffn_down"},
    {Role::final_norm, "norm", "output_norm"},
    {Role::head, "lm_head", "output"},
}};

TensorTable make_table(const ModelSpec& spec, const Checkpoint& checkpoint) {
  return make_tensor_table(spec, checkpoint, {.names = kTensors});
}

}  // namespace

const Family& stablelm() {
  static constexpr Family kStablelm{.name = kName,
                                    .hf_architecture = "StableLmForCausalLM",
                                    .gguf_architecture = "stablelm",
                                    .read_hf = read_hf,
                                    .read_gguf = read_gguf,
                                    .tensor_table = make_table};
  return kStablelm;
}

}  // namespace sticky::model
