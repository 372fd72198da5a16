// The Llama family: RMS norms, rotary positions on whole heads, grouped-query attention, gated MLP.
// Judge of every key: LlamaConfig and modeling_llama.py of transformers 4 and 5; of GGUF: gguf.md
// and llama.cpp's conversion of this architecture.
#include <fmt/format.h>

#include "sticky/base/error.hpp"

#include "families.hpp"
#include "hf_config.hpp"
#include "hf_rope.hpp"
#include "tensor_names.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kName = "llama";

ModelSpec read_hf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path() + "/config.json");
  ModelSpec spec = read_hf_decoder(config, checkpoint, kName,
                                   {.default_context = 2048, .default_norm_eps = 1e-6});
  spec.qkv_bias = config.flag_or("attention_bias", false);
  spec.output_bias = spec.qkv_bias;
  spec.mlp_bias = config.flag_or("mlp_bias", false);
  read_hf_rope(config, spec);
  if (config.flag_or("rope_interleaved", false))
    config.reject("rope_interleaved", Json(true), "must be false");
  refuse_other_mathematics(config);
  return spec;
}

void read_gguf_rope(const Checkpoint& checkpoint, ConfigReader& config, ModelSpec& spec) {
  spec.rope.theta = config.number_or("rope.freq_base", 10000.0);
  spec.rotary_dim = config.count_or("rope.dimension_count", spec.head_dim);
  if (spec.rotary_dim != spec.head_dim) {
    config.reject("rope.dimension_count", Json(spec.rotary_dim),
                  fmt::format("heads have {} elements, and all must be rotated", spec.head_dim));
  }
  const std::string type = config.text_or("rope.scaling.type", "none");
  if (type == "linear") {
    spec.rope.divisors.assign(static_cast<std::size_t>(spec.rotary_dim / 2),
                              config.number("rope.scaling.factor"));
  } else if (type != "none") {
    config.reject("rope.scaling.type", Json(type), "must be none or linear");
  }
  // Llama 3's stretching is stored as its result.
  const auto* divisors = checkpoint.find("rope_freqs.weight");
  if (divisors == nullptr) return;
  if (divisors->shape != std::vector<i64>{spec.rotary_dim / 2} || !spec.rope.divisors.empty()) {
    fail<FormatError>(
        "{}: tensor rope_freqs.weight: {} elements, but {} and no linear scaling are "
        "expected",
        checkpoint.path(), divisors->rows() * divisors->cols(), spec.rotary_dim / 2);
  }
  std::vector<float> values(static_cast<std::size_t>(divisors->rows()));
  checkpoint.read_rows(*divisors, 0, divisors->rows(), values);
  spec.rope.divisors.assign(values.begin(), values.end());
}

void read_gguf_sizes(const Checkpoint& checkpoint, ConfigReader& config, ModelSpec& spec) {
  spec.n_layers = config.count("block_count");
  spec.d_model = config.count("embedding_length");
  spec.d_ff = config.count("feed_forward_length");
  spec.n_heads = config.count("attention.head_count");
  spec.n_kv_heads = config.count_or("attention.head_count_kv", spec.n_heads);
  spec.head_dim = config.count_or("attention.key_length", spec.d_model / spec.n_heads);
  if (spec.head_dim > kMaxHeadDim)
    config.reject("attention.key_length", Json(spec.head_dim),
                  fmt::format("must be at most {}", kMaxHeadDim));
  if (config.count_or("attention.value_length", spec.head_dim) != spec.head_dim) {
    config.reject("attention.value_length", *config.find("attention.value_length"),
                  "must be attention.key_length");
  }
  const auto* embedding = checkpoint.find("token_embd.weight");
  if (embedding == nullptr)
    fail<FormatError>("{}: tensor token_embd.weight is missing", checkpoint.path());
  spec.vocab = config.count_or("vocab_size", embedding->rows());
  spec.context = config.count("context_length");
}

// What GGUF tells by which tensors there are.
void read_gguf_tensors(const Checkpoint& checkpoint, ModelSpec& spec) {
  const auto has = [&](const char* name) { return checkpoint.find(name) != nullptr; };
  spec.tied_head = !has("output.weight");
  spec.qkv_bias = has("blk.0.attn_q.bias");
  spec.output_bias = has("blk.0.attn_output.bias");
  spec.mlp_bias = has("blk.0.ffn_down.bias");
}

ModelSpec read_gguf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path(), "llama.");
  ConfigReader tokenizer(checkpoint.config(), checkpoint.path(), "tokenizer.ggml.");
  ModelSpec spec;
  spec.family = kName;
  read_gguf_sizes(checkpoint, config, spec);
  read_gguf_tensors(checkpoint, spec);
  read_gguf_rope(checkpoint, config, spec);
  spec.norm_eps = static_cast<float>(config.number("attention.layer_norm_rms_epsilon"));
  spec.attention_scale = usual_attention_scale(spec.head_dim);
  add_end_ids(spec, tokenizer.ids("eos_token_id"));
  add_end_ids(spec, tokenizer.ids("eot_token_id"));
  if (const auto bos = tokenizer.ids("bos_token_id"); !bos.empty()) spec.bos_id = bos[0];
  if (config.number_or("expert_count", 0.0) != 0.0)
    config.reject("expert_count", *config.find("expert_count"), "must be 0");
  config.accept_any({"expert_used_count", "rope.scaling.original_context_length",
                     "rope.scaling.finetuned", "tensor_data_layout"});
  config.refuse_all_unread();
  return spec;
}

TensorTable make_table(const ModelSpec& spec, const Checkpoint& checkpoint) {
  TensorTable table = make_tensor_table(
      spec, checkpoint,
      {.names = kLlamaTensors, .hf_unused = kLlamaUnused, .gguf_rotary_pairs = true});
  table.unused.emplace_back("rope_freqs.weight");
  return table;
}

ModelSpec read_llama(const Checkpoint& checkpoint) {
  return checkpoint.is_gguf() ? read_gguf(checkpoint) : read_hf(checkpoint);
}

}  // namespace

const Family& llama() {
  static constexpr Family kLlama{.name = kName,
                                 .hf_architecture = "LlamaForCausalLM",
                                 .gguf_architecture = "llama",
                                 .read_spec = read_llama,
                                 .tensor_table = make_table};
  return kLlama;
}

}  // namespace sticky::model
