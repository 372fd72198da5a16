#include "gguf_config.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "sticky/base/error.hpp"

#include "hf_config.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kWindow = "attention.sliding_window";

void read_sizes(ConfigReader& config, const Checkpoint& checkpoint, ModelSpec& spec) {
  spec.n_layers = config.count("block_count");
  // Lists of layers are made before their tensors are looked for.
  if (spec.n_layers > kMaxLayers)
    config.reject("block_count", Json(spec.n_layers),
                  fmt::format("must be at most {}", kMaxLayers));
  spec.d_model = config.count("embedding_length");
  spec.d_ff = config.count("feed_forward_length");
  spec.n_heads = config.count("attention.head_count");
  spec.n_kv_heads = config.count_or("attention.head_count_kv", spec.n_heads);
  spec.head_dim = config.count_or("attention.key_length", spec.d_model / spec.n_heads);
  if (spec.head_dim > kMaxHeadDim) {
    config.reject("attention.key_length", Json(spec.head_dim),
                  fmt::format("must be at most {}", kMaxHeadDim));
  }
  if (config.count_or("attention.value_length", spec.head_dim) != spec.head_dim) {
    config.reject("attention.value_length", *config.find("attention.value_length"),
                  fmt::format("must be as wide as the keys, {}", spec.head_dim));
  }
  const auto* embedding = checkpoint.find("token_embd.weight");
  if (embedding == nullptr)
    fail<FormatError>("{}: tensor token_embd.weight is missing", checkpoint.path());
  spec.vocab = embedding->rows();
  spec.context = config.count("context_length");
}

void read_what_tensors_tell(const Checkpoint& checkpoint, ModelSpec& spec) {
  const auto has = [&](const char* name) { return checkpoint.find(name) != nullptr; };
  spec.tied_head = !has("output.weight");
  spec.qkv_bias = has("blk.0.attn_q.bias") || has("blk.0.attn_qkv.bias");
  spec.output_bias = has("blk.0.attn_output.bias");
  spec.mlp_bias = has("blk.0.ffn_down.bias");
}

void read_token_ids(const Checkpoint& checkpoint, ModelSpec& spec) {
  ConfigReader tokenizer(checkpoint.config(), checkpoint.path(), "tokenizer.ggml.");
  for (const char* key : {"eos_token_id", "eot_token_id", "eom_token_id"})
    add_end_ids(spec, tokenizer.ids(key));
  if (const auto bos = tokenizer.ids("bos_token_id"); !bos.empty()) spec.bos_id = bos[0];
}

}  // namespace

ModelSpec read_gguf_decoder(ConfigReader& config,
                            const Checkpoint& checkpoint,
                            std::string_view family,
                            NormKind norm) {
  ModelSpec spec;
  spec.family = family;
  read_sizes(config, checkpoint, spec);
  read_what_tensors_tell(checkpoint, spec);
  read_token_ids(checkpoint, spec);
  spec.norm = norm;
  spec.norm_bias = norm == NormKind::layer;
  spec.norm_eps = static_cast<float>(config.number(norm == NormKind::layer
                                                       ? "attention.layer_norm_epsilon"
                                                       : "attention.layer_norm_rms_epsilon"));
  spec.attention_scale = usual_attention_scale(spec.head_dim);
  if (config.number_or("expert_count", 0.0) != 0.0)
    config.reject("expert_count", *config.find("expert_count"), "must be 0");
  if (!config.flag_or("attention.causal", true))
    config.reject("attention.causal", Json(false), "must be true");
  return spec;
}

i64 read_gguf_window(ConfigReader& config, i64 otherwise) {
  const Json* value = config.find(kWindow);
  if (value == nullptr) return otherwise;
  return *value == Json(i64{0}) ? 0 : config.count(kWindow);
}

std::vector<i64> read_gguf_windows(ConfigReader& config, i64 n_layers, i64 window, i64 every) {
  constexpr std::string_view kKey = "attention.sliding_window_pattern";
  const Json* pattern = config.find(kKey);
  if (window == 0) return {};
  const bool is_list = pattern != nullptr && pattern->is_array();
  if (pattern != nullptr && !is_list) every = config.count(kKey);
  if (is_list && (static_cast<i64>(pattern->as_array().size()) != n_layers ||
                  !std::ranges::all_of(pattern->as_array(), &Json::is_bool)))
    config.reject(kKey, *pattern,
                  fmt::format("must be a number or a list of {} booleans", n_layers));
  std::vector<i64> windows;
  for (i64 layer = 0; layer < n_layers; ++layer) {
    const bool slides = is_list ? pattern->as_array()[static_cast<std::size_t>(layer)].as_bool()
                                : (layer + 1) % every != 0;
    windows.push_back(slides ? window : 0);
  }
  return windows;
}

void refuse_unread_gguf(ConfigReader& config) {
  // vocab_size: the embedding has so many rows, or padding ones besides.
  config.accept_any({"vocab_size", "expert_used_count", "rope.scaling.finetuned",
                     "rope.scaling.original_context_length", "tensor_data_layout"});
  config.refuse_all_unread();
}

}  // namespace sticky::model
