// Phi-3, Phi-3.5 and Phi-4-mini: a Llama with fused projections, longrope, and one window in all
// layers.
// Judge of every key: Phi3Config and modeling_phi3.py of transformers 4 and 5.
#include <array>

#include "families.hpp"
#include "gguf_config.hpp"
#include "hf_config.hpp"
#include "hf_rope.hpp"
#include "tensor_names.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kName = "phi3";

ModelSpec read_hf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path() + "/config.json");
  ModelSpec spec = read_hf_decoder(config, checkpoint, kName);
  read_hf_rope(config, spec, {.may_be_partial = true});
  if (const auto window = config.count_or("sliding_window", 0); window > 0)
    spec.windows.assign(static_cast<std::size_t>(spec.n_layers), window);
  if (config.flag_or("attention_bias", false))
    config.reject("attention_bias", Json(true), "must be false");
  refuse_other_mathematics(config);
  return spec;
}

ModelSpec read_gguf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path(), "phi3.");
  ModelSpec spec = read_gguf_decoder(config, checkpoint, kName);
  read_gguf_rope(config, checkpoint, spec, true);
  if (const i64 window = read_gguf_window(config, 0); window > 0)
    spec.windows.assign(static_cast<std::size_t>(spec.n_layers), window);
  refuse_unread_gguf(config);
  return spec;
}

constexpr std::array<TensorName, 9> kTensors{{
    {Role::embedding, "embed_tokens", "token_embd"},
    {Role::attention_norm, "input_layernorm", "attn_norm"},
    {Role::q, "self_attn.qkv_proj", "attn_qkv", Fused::qkv},
    {Role::o, "self_attn.o_proj", "attn_output"},
    {Role::mlp_norm, "post_attention_layernorm", "ffn_norm"},
    {Role::gate, "mlp.gate_up_proj", "ffn_up", Fused::gate_up},
    {Role::down, "mlp.down_proj", "ffn_down"},
    {Role::final_norm, "norm", "output_norm"},
    {Role::head, "lm_head", "output"},
}};

TensorTable make_table(const ModelSpec& spec, const Checkpoint& checkpoint) {
  return make_tensor_table(spec, checkpoint, {.names = kTensors});
}

}  // namespace

const Family& phi3() {
  static constexpr Family kPhi3{.name = kName,
                                .hf_architecture = "Phi3ForCausalLM",
                                .gguf_architecture = "phi3",
                                .read_hf = read_hf,
                                .read_gguf = read_gguf,
                                .tensor_table = make_table};
  return kPhi3;
}

}  // namespace sticky::model
