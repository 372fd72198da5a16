#include "hf_config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace sticky::model {

namespace {

// Keys of other models' mathematics speak in these words. A family's code in transformers ignores
// such keys, but a checkpoint that has one was made by something that did not.
constexpr std::array<std::string_view, 24> kMathematicalWords{
    "activation", "alibi",      "attention", "bias",     "bidirectional", "clip",
    "expert",     "head",       "layer",     "logit_",   "lora",          "mlp",
    "moe",        "multiplier", "norm",      "parallel", "qk_",           "quant",
    "residual",   "rope",       "rotary",    "scal",     "softcap",       "window"};

void read_kv_heads(ConfigReader& config, ModelSpec& spec, const HfKeys& keys) {
  constexpr std::string_view kKey = "num_key_value_heads";
  spec.n_kv_heads = keys.needs_kv_heads ? config.count(kKey) : config.count_or(kKey, spec.n_heads);
  if (!keys.may_share_kv_heads && spec.n_kv_heads != spec.n_heads) {
    config.reject(kKey, Json(spec.n_kv_heads),
                  fmt::format("must be as {}, {}", keys.heads, spec.n_heads));
  }
}

void read_head_dim(ConfigReader& config, ModelSpec& spec, const HfKeys& keys) {
  const Json* found = config.find("head_dim");
  if (found == nullptr && keys.default_head_dim == 0 && spec.d_model % spec.n_heads != 0) {
    config.reject(keys.d_model, Json(spec.d_model),
                  fmt::format("must be a multiple of {}", keys.heads));
  }
  const i64 usual = keys.default_head_dim > 0 ? keys.default_head_dim
                                              : std::max<i64>(1, spec.d_model / spec.n_heads);
  spec.head_dim = config.count_or("head_dim", usual);
  // What is made for each pair of a head must not grow with a number that nobody has checked.
  if (spec.head_dim > kMaxHeadDim) {
    config.reject(found == nullptr ? keys.d_model : "head_dim", Json(spec.head_dim),
                  fmt::format("must be at most {}", kMaxHeadDim));
  }
}

void read_token_ids(ConfigReader& config,
                    const checkpoint::Checkpoint& checkpoint,
                    ModelSpec& spec) {
  add_end_ids(spec, config.ids("eos_token_id"));
  ConfigReader generation(checkpoint.generation_config(),
                          checkpoint.path() + "/generation_config.json");
  add_end_ids(spec, generation.ids("eos_token_id"));
  if (const auto bos = config.ids("bos_token_id"); !bos.empty()) spec.bos_id = bos[0];
}

}  // namespace

ModelSpec read_hf_decoder(ConfigReader& config,
                          const checkpoint::Checkpoint& checkpoint,
                          std::string_view family,
                          const HfKeys& keys) {
  ModelSpec spec;
  spec.family = family;
  spec.n_layers = config.count(keys.layers);
  if (spec.n_layers > kMaxLayers)
    config.reject(keys.layers, Json(spec.n_layers), fmt::format("must be at most {}", kMaxLayers));
  spec.d_model = config.count(keys.d_model);
  spec.d_ff =
      keys.may_lack_d_ff ? config.count_or(keys.d_ff, 4 * spec.d_model) : config.count(keys.d_ff);
  spec.n_heads = config.count(keys.heads);
  read_kv_heads(config, spec, keys);
  read_head_dim(config, spec, keys);
  spec.vocab = config.count("vocab_size");
  spec.context = keys.default_context > 0 ? config.count_or(keys.context, keys.default_context)
                                          : config.count(keys.context);
  spec.norm_eps = static_cast<float>(keys.default_norm_eps > 0.0
                                         ? config.number_or(keys.norm_eps, keys.default_norm_eps)
                                         : config.number(keys.norm_eps));
  spec.activation = read_activation(config, keys.activation, keys.default_activation);
  spec.rotary_dim = spec.head_dim;
  spec.attention_scale = usual_attention_scale(spec.head_dim);
  spec.tied_head = config.flag_or("tie_word_embeddings", keys.tied_head);
  read_token_ids(config, checkpoint, spec);
  return spec;
}

Activation read_activation(ConfigReader& config, std::string_view key, std::string_view otherwise) {
  const std::string name = config.text_or(key, otherwise);
  if (name == "silu" || name == "swish") return Activation::silu;
  // gelu_fast writes the same polynomial another way.
  if (name == "gelu_pytorch_tanh" || name == "gelu_new" || name == "gelu_fast")
    return Activation::gelu_tanh;
  if (name == "gelu") return Activation::gelu_erf;
  config.reject(key, Json(name), "must be silu, swish, gelu, gelu_new or gelu_pytorch_tanh");
}

std::vector<i64> read_windows(ConfigReader& config,
                              i64 n_layers,
                              i64 window,
                              const std::function<bool(i64 layer)>& slides) {
  constexpr std::string_view kKey = "layer_types";
  const Json* types = config.find(kKey);
  if (types != nullptr &&
      (!types->is_array() || static_cast<i64>(types->as_array().size()) != n_layers))
    config.reject(kKey, *types, fmt::format("must be a list of {} types", n_layers));
  const auto slides_by_type = [&](i64 layer) {
    const Json& type = types->as_array()[static_cast<std::size_t>(layer)];
    if (type == Json("full_attention")) return false;
    if (type == Json("sliding_attention")) return true;
    config.reject(kKey, type, "must hold full_attention and sliding_attention only");
  };
  std::vector<i64> windows;
  for (i64 layer = 0; layer < n_layers; ++layer) {
    const bool is_sliding = types != nullptr ? slides_by_type(layer) : slides(layer);
    if (is_sliding && window == 0 && types != nullptr)
      config.reject(kKey, *types, "no window is set for layers of sliding_attention");
    windows.push_back(is_sliding ? window : 0);
  }
  const bool is_any = std::ranges::any_of(windows, [](i64 w) { return w > 0; });
  return is_any ? windows : std::vector<i64>();
}

float usual_attention_scale(i64 head_dim) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_dim)));
}

void add_end_ids(ModelSpec& spec, const std::vector<i32>& ids) {
  for (const i32 id : ids) {
    if (std::find(spec.eos_ids.begin(), spec.eos_ids.end(), id) == spec.eos_ids.end())
      spec.eos_ids.push_back(id);
  }
}

void refuse_other_mathematics(ConfigReader& config) {
  config.accept_any({"attention_dropout", "output_attentions"});
  config.refuse_unread(kMathematicalWords);
}

}  // namespace sticky::model
