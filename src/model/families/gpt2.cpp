// GPT-2: learned positions, layer norms with biases, an MLP without a gate, matrices stored the
// other way round.
// Judge of every key: GPT2Config and modeling_gpt2.py of transformers 4 and 5.
#include <array>

#include "families.hpp"
#include "gguf_config.hpp"
#include "hf_config.hpp"
#include "tensor_names.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kName = "gpt2";

ModelSpec read_hf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path() + "/config.json");
  ModelSpec spec = read_hf_decoder(config, checkpoint, kName,
                                   {.layers = "n_layer",
                                    .d_model = "n_embd",
                                    .d_ff = "n_inner",
                                    .heads = "n_head",
                                    .context = "n_positions",
                                    .norm_eps = "layer_norm_epsilon",
                                    .activation = "activation_function",
                                    .default_activation = "gelu_new",
                                    .may_share_kv_heads = false,
                                    .may_lack_d_ff = true,
                                    .tied_head = true});
  spec.learned_positions = true;
  spec.rotary_dim = 0;
  spec.norm = NormKind::layer;
  spec.norm_bias = true;
  spec.gated_mlp = false;
  spec.qkv_bias = spec.output_bias = spec.mlp_bias = true;
  if (!config.flag_or("scale_attn_weights", true)) spec.attention_scale = 1.0F;
  config.accept_any({"reorder_and_upcast_attn", "summary_activation"});
  refuse_other_mathematics(config);
  return spec;
}

ModelSpec read_gguf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path(), "gpt2.");
  ModelSpec spec = read_gguf_decoder(config, checkpoint, kName, NormKind::layer);
  spec.learned_positions = true;
  spec.gated_mlp = false;
  spec.activation = Activation::gelu_tanh;
  refuse_unread_gguf(config);
  return spec;
}

constexpr std::array<TensorName, 10> kTensors{{
    {Role::embedding, "wte", "token_embd"},
    {Role::positions, "wpe", "position_embd"},
    {Role::attention_norm, "ln_1", "attn_norm"},
    {Role::q, "attn.c_attn", "attn_qkv", Fused::qkv},
    {Role::o, "attn.c_proj", "attn_output"},
    {Role::mlp_norm, "ln_2", "ffn_norm"},
    {Role::up, "mlp.c_fc", "ffn_up"},
    {Role::down, "mlp.c_proj", "ffn_down"},
    {Role::final_norm, "ln_f", "output_norm"},
    {Role::head, "lm_head", "output"},
}};
// Causal masks, which older versions kept as tensors.
constexpr std::array<std::string_view, 2> kUnused{"attn.bias", "attn.masked_bias"};

TensorTable make_table(const ModelSpec& spec, const Checkpoint& checkpoint) {
  return make_tensor_table(spec, checkpoint,
                           {.hf_root = "transformer.",
                            .hf_layers = "h.",
                            .names = kTensors,
                            .hf_unused = kUnused,
                            .hf_transposed = true});
}

}  // namespace

const Family& gpt2() {
  static constexpr Family kGpt2{.name = kName,
                                .hf_architecture = "GPT2LMHeadModel",
                                .gguf_architecture = "gpt2",
                                .read_hf = read_hf,
                                .read_gguf = read_gguf,
                                .tensor_table = make_table};
  return kGpt2;
}

}  // namespace sticky::model
