#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "sticky/checkpoint/checkpoint.hpp"
#include "sticky/model/spec.hpp"

#include "config_reader.hpp"

// What the config.json of all decoders in transformers has in common. Where a key may be left out,
// the family says what transformers takes then.

namespace sticky::model {

inline constexpr i64 kMaxHeadDim = 65536;

/// Names and defaults of the keys that most families share. 0: the key is required.
struct HfKeys {
  std::string_view layers = "num_hidden_layers";
  std::string_view d_model = "hidden_size";
  std::string_view d_ff = "intermediate_size";
  std::string_view heads = "num_attention_heads";
  std::string_view context = "max_position_embeddings";
  std::string_view norm_eps = "rms_norm_eps";
  std::string_view activation = "hidden_act";
  std::string_view default_activation = "silu";
  i64 default_context = 0;
  i64 default_head_dim = 0;  ///< 0: hidden size / heads
  double default_norm_eps = 0.0;
  bool needs_kv_heads = false;     ///< else as many as heads, where the key is absent
  bool may_share_kv_heads = true;  ///< several heads of q may have one of k and v
  bool may_lack_d_ff = false;      ///< 4 * d_model then
  bool tied_head = false;
};

/// Sizes, eps of the norms, activation, tie, token ids; rotary_dim and attention_scale as head_dim
/// gives them.
[[nodiscard]] ModelSpec read_hf_decoder(ConfigReader& config,
                                        const checkpoint::Checkpoint& checkpoint,
                                        std::string_view family,
                                        const HfKeys& keys = {});

/// The function of that name, among those that transformers knows by it.
[[nodiscard]] Activation read_activation(ConfigReader& config,
                                         std::string_view key,
                                         std::string_view otherwise);

/// [n_layers] for ModelSpec::windows: `window` in each layer that layer_types calls
/// "sliding_attention" or, without that key, slides(layer). A layer that slides without a window
/// (0) is an error.
[[nodiscard]] std::vector<i64> read_windows(ConfigReader& config,
                                            i64 n_layers,
                                            i64 window,
                                            const std::function<bool(i64 layer)>& slides);

/// What a head's width gives where no other scale is named: head_dim^-0.5.
[[nodiscard]] float usual_attention_scale(i64 head_dim);

void add_end_ids(ModelSpec& spec, const std::vector<i32>& ids);

/// Throws for an unread key that speaks of mathematics.
void refuse_other_mathematics(ConfigReader& config);

}  // namespace sticky::model
