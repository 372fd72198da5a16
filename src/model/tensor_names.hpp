#pragma once

#include <array>
#include <span>
#include <string_view>

#include "sticky/checkpoint/checkpoint.hpp"
#include "sticky/model/spec.hpp"

#include "tensor_table.hpp"

namespace sticky::model {

/// Roles that share one tensor.
enum class Fused : std::uint8_t {
  no,
  qkv,          ///< rows of q, then k, then v
  qkv_by_head,  ///< rows of q, k and v of head 0, then those of head 1, …; as many of k as of q.
                ///< In GGUF as qkv.
  gate_up       ///< rows of gate, then up
};

/// What the formats call a tensor, without ".weight" or ".bias" and, in a layer, without the
/// layer's own prefix. An empty name: that format does not have it.
struct TensorName {
  Role role;  ///< the first one, where several share the tensor
  /// A '*' stands for the number of a head: one tensor each. In GGUF one for all, a row for each.
  std::string_view hf;
  std::string_view gguf;
  Fused fused = Fused::no;
};

/// Llama's names, which many families took over; with those of normed heads, which some have.
inline constexpr std::array<TensorName, 14> kLlamaTensors{{
    {Role::embedding, "embed_tokens", "token_embd"},
    {Role::attention_norm, "input_layernorm", "attn_norm"},
    {Role::q, "self_attn.q_proj", "attn_q"},
    {Role::k, "self_attn.k_proj", "attn_k"},
    {Role::v, "self_attn.v_proj", "attn_v"},
    {Role::q_norm, "self_attn.q_norm", "attn_q_norm"},
    {Role::k_norm, "self_attn.k_norm", "attn_k_norm"},
    {Role::o, "self_attn.o_proj", "attn_output"},
    {Role::mlp_norm, "post_attention_layernorm", "ffn_norm"},
    {Role::gate, "mlp.gate_proj", "ffn_gate"},
    {Role::up, "mlp.up_proj", "ffn_up"},
    {Role::down, "mlp.down_proj", "ffn_down"},
    {Role::final_norm, "norm", "output_norm"},
    {Role::head, "lm_head", "output"},
}};
inline constexpr std::array<std::string_view, 1> kLlamaUnused{"self_attn.rotary_emb.inv_freq"};

/// The names of models with norms behind attention and MLP, before them too or not.
inline constexpr std::array<TensorName, 16> kPostNormTensors{{
    {Role::embedding, "embed_tokens", "token_embd"},
    {Role::attention_norm, "input_layernorm", "attn_norm"},
    {Role::q, "self_attn.q_proj", "attn_q"},
    {Role::k, "self_attn.k_proj", "attn_k"},
    {Role::v, "self_attn.v_proj", "attn_v"},
    {Role::q_norm, "self_attn.q_norm", "attn_q_norm"},
    {Role::k_norm, "self_attn.k_norm", "attn_k_norm"},
    {Role::o, "self_attn.o_proj", "attn_output"},
    {Role::post_attention_norm, "post_attention_layernorm", "post_attention_norm"},
    {Role::mlp_norm, "pre_feedforward_layernorm", "ffn_norm"},
    {Role::gate, "mlp.gate_proj", "ffn_gate"},
    {Role::up, "mlp.up_proj", "ffn_up"},
    {Role::down, "mlp.down_proj", "ffn_down"},
    {Role::post_mlp_norm, "post_feedforward_layernorm", "post_ffw_norm"},
    {Role::final_norm, "norm", "output_norm"},
    {Role::head, "lm_head", "output"},
}};

/// How a family names its tensors. Which of them a model has is told by its spec.
struct NameTable {
  std::string_view hf_root = "model.";  ///< before all but the head; some folders leave it out
  std::string_view hf_layers = "layers.";
  std::span<const TensorName> names = {};
  std::span<const std::string_view> hf_unused = {};  ///< of a layer, in full; see TensorTable
  bool hf_transposed = false;                        ///< matrices of layers stand as [cols, rows]
  bool gguf_rotary_pairs = false;                    ///< rows of q and k stand as rotary pairs
};

/// The table of a model with this spec, under the names of the checkpoint's format.
[[nodiscard]] TensorTable make_tensor_table(const ModelSpec& spec,
                                            const checkpoint::Checkpoint& checkpoint,
                                            const NameTable& names);

}  // namespace sticky::model
