// The Llama family: RMS norms, rotary positions on whole heads, grouped-query attention, gated MLP.
// Judge of every key: LlamaConfig and modeling_llama.py of transformers 4 and 5; of GGUF: gguf.md
// and llama.cpp's conversion of this architecture.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "sticky/base/error.hpp"

#include "config_reader.hpp"
#include "families.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kName = "llama";
constexpr i64 kMaxHeadDim = 65536;

// Keys of other models' mathematics speak in these words. LlamaForCausalLM ignores such keys, but a
// checkpoint that has one was made by something that did not.
constexpr std::array<std::string_view, 23> kMathematicalWords{
    "activation", "alibi",    "attention", "bias",   "clip",       "expert",  "head",     "layer",
    "logit_",     "lora",     "mlp",       "moe",    "multiplier", "norm",    "parallel", "qk_",
    "quant",      "residual", "rope",      "rotary", "scal",       "softcap", "window"};

Activation read_activation(ConfigReader& config) {
  const std::string name = config.text_or("hidden_act", "silu");
  if (name == "silu" || name == "swish") return Activation::silu;
  if (name == "gelu_pytorch_tanh" || name == "gelu_new") return Activation::gelu_tanh;
  if (name == "gelu") return Activation::gelu_erf;
  config.reject("hidden_act", Json(name),
                "must be silu, swish, gelu, gelu_new or gelu_pytorch_tanh");
}

std::vector<double> linear_divisors(const ModelSpec& spec, double factor) {
  return std::vector<double>(static_cast<std::size_t>(spec.rotary_dim / 2), factor);
}

// Llama 3.1: pairs whose wavelength is long against the original context turn `factor` times
// slower, short ones as before, and between the two bounds the frequency (not the divisor) is
// interpolated.
std::vector<double> llama3_divisors(const ModelSpec& spec, ConfigReader& rope) {
  const double factor = rope.number("factor");
  const double low = rope.number("low_freq_factor");
  const double high = rope.number("high_freq_factor");
  const auto original = static_cast<double>(rope.count("original_max_position_embeddings"));
  if (!(high > low))
    rope.reject("high_freq_factor", Json(high), "must be greater than low_freq_factor");
  std::vector<double> divisors;
  for (i64 i = 0; i < spec.rotary_dim / 2; ++i) {
    const double exponent = 2.0 * static_cast<double>(i) / static_cast<double>(spec.rotary_dim);
    const double wavelength = 2.0 * std::numbers::pi * std::pow(spec.rope_theta, exponent);
    if (wavelength > original / low) {
      divisors.push_back(factor);
    } else if (wavelength < original / high) {
      divisors.push_back(1.0);
    } else {
      const double smooth = (original / wavelength - low) / (high - low);
      divisors.push_back(1.0 / ((1.0 - smooth) / factor + smooth));
    }
  }
  return divisors;
}

// What is made for each pair of a head must not grow with a number that nobody has checked.
void check_head_dim(ConfigReader& config, std::string_view key, const ModelSpec& spec) {
  if (spec.head_dim > kMaxHeadDim)
    config.reject(key, Json(spec.head_dim), fmt::format("must be at most {}", kMaxHeadDim));
}

// transformers 5 has one object rope_parameters {rope_type, rope_theta, …}; transformers 4 had
// rope_theta beside rope_scaling {rope_type (before: type), …}.
void read_hf_rope(ConfigReader& config, ModelSpec& spec) {
  const Json* v5 = config.find("rope_parameters");
  const Json* v4 = config.find("rope_scaling");
  spec.rope_theta = config.number_or("rope_theta", 10000.0);
  if (v4 != nullptr && v5 != nullptr)
    config.reject("rope_scaling", *v4, "must not stand beside rope_parameters");
  const std::string key = v5 != nullptr ? "rope_parameters" : "rope_scaling";
  const Json* object = v5 != nullptr ? v5 : v4;
  if (object == nullptr) return;
  if (!object->is_object()) config.reject(key, *object, "must be an object");
  ConfigReader rope(*object, config.where() + ": " + key);
  spec.rope_theta = rope.number_or("rope_theta", spec.rope_theta);
  if (rope.number_or("partial_rotary_factor", 1.0) != 1.0)
    rope.reject("partial_rotary_factor", *object->find("partial_rotary_factor"), "must be 1");
  const std::string old_type = rope.text_or("type", "default");
  const std::string type = rope.text_or("rope_type", old_type);
  if (type == "linear") {
    spec.rope_divisors = linear_divisors(spec, rope.number("factor"));
  } else if (type == "llama3") {
    spec.rope_divisors = llama3_divisors(spec, rope);
  } else if (type != "default") {
    rope.reject("rope_type", Json(type), "must be default, linear or llama3");
  }
  rope.refuse_all_unread();
}

void refuse_other_mathematics(ConfigReader& config) {
  if (config.flag_or("rope_interleaved", false))
    config.reject("rope_interleaved", Json(true), "must be false");
  if (config.number_or("partial_rotary_factor", 1.0) != 1.0)
    config.reject("partial_rotary_factor", *config.find("partial_rotary_factor"), "must be 1");
  config.accept_any({"attention_dropout", "output_attentions"});
  config.refuse_unread(kMathematicalWords);
}

void add_end_ids(ModelSpec& spec, const std::vector<i32>& ids) {
  for (const i32 id : ids) {
    if (std::find(spec.eos_ids.begin(), spec.eos_ids.end(), id) == spec.eos_ids.end())
      spec.eos_ids.push_back(id);
  }
}

ModelSpec read_hf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path() + "/config.json");
  ModelSpec spec;
  spec.family = kName;
  spec.n_layers = config.count("num_hidden_layers");
  spec.d_model = config.count("hidden_size");
  spec.d_ff = config.count("intermediate_size");
  spec.n_heads = config.count("num_attention_heads");
  spec.n_kv_heads = config.count_or("num_key_value_heads", spec.n_heads);
  const Json* head_dim = config.find("head_dim");
  if (head_dim == nullptr && spec.d_model % spec.n_heads != 0)
    config.reject("hidden_size", Json(spec.d_model), "must be a multiple of num_attention_heads");
  spec.head_dim = config.count_or("head_dim", spec.d_model / spec.n_heads);
  check_head_dim(config, "head_dim", spec);
  spec.vocab = config.count("vocab_size");
  spec.context = config.count_or("max_position_embeddings", 2048);
  spec.norm_eps = static_cast<float>(config.number_or("rms_norm_eps", 1e-6));
  spec.activation = read_activation(config);
  spec.rotary_dim = spec.head_dim;
  read_hf_rope(config, spec);
  spec.attention_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(spec.head_dim)));
  spec.tied_head = config.flag_or("tie_word_embeddings", false);
  spec.qkv_bias = config.flag_or("attention_bias", false);
  spec.output_bias = spec.qkv_bias;
  spec.mlp_bias = config.flag_or("mlp_bias", false);
  add_end_ids(spec, config.ids("eos_token_id"));
  ConfigReader generation(checkpoint.generation_config(),
                          checkpoint.path() + "/generation_config.json");
  add_end_ids(spec, generation.ids("eos_token_id"));
  if (const auto bos = config.ids("bos_token_id"); !bos.empty()) spec.bos_id = bos[0];
  refuse_other_mathematics(config);
  return spec;
}

void read_gguf_rope(const Checkpoint& checkpoint, ConfigReader& config, ModelSpec& spec) {
  spec.rope_theta = config.number_or("rope.freq_base", 10000.0);
  spec.rotary_dim = config.count_or("rope.dimension_count", spec.head_dim);
  if (spec.rotary_dim != spec.head_dim) {
    config.reject("rope.dimension_count", Json(spec.rotary_dim),
                  fmt::format("heads have {} elements, and all must be rotated", spec.head_dim));
  }
  const std::string type = config.text_or("rope.scaling.type", "none");
  if (type == "linear") {
    spec.rope_divisors = linear_divisors(spec, config.number("rope.scaling.factor"));
  } else if (type != "none") {
    config.reject("rope.scaling.type", Json(type), "must be none or linear");
  }
  // Llama 3's stretching is stored as its result.
  const auto* divisors = checkpoint.find("rope_freqs.weight");
  if (divisors == nullptr) return;
  if (divisors->shape != std::vector<i64>{spec.rotary_dim / 2} || !spec.rope_divisors.empty()) {
    fail<FormatError>(
        "{}: tensor rope_freqs.weight: {} elements, but {} and no linear scaling are "
        "expected",
        checkpoint.path(), divisors->rows() * divisors->cols(), spec.rotary_dim / 2);
  }
  std::vector<float> values(static_cast<std::size_t>(divisors->rows()));
  checkpoint.read_rows(*divisors, 0, divisors->rows(), values);
  spec.rope_divisors.assign(values.begin(), values.end());
}

void read_gguf_sizes(const Checkpoint& checkpoint, ConfigReader& config, ModelSpec& spec) {
  spec.n_layers = config.count("block_count");
  spec.d_model = config.count("embedding_length");
  spec.d_ff = config.count("feed_forward_length");
  spec.n_heads = config.count("attention.head_count");
  spec.n_kv_heads = config.count_or("attention.head_count_kv", spec.n_heads);
  spec.head_dim = config.count_or("attention.key_length", spec.d_model / spec.n_heads);
  check_head_dim(config, "attention.key_length", spec);
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
  spec.attention_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(spec.head_dim)));
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

ModelSpec read_llama(const Checkpoint& checkpoint) {
  return checkpoint.is_gguf() ? read_gguf(checkpoint) : read_hf(checkpoint);
}

// Names of a layer's tensors without ".weight" or ".bias", in the order of their use.
struct LayerNames {
  std::string_view prefix, attention_norm, q, k, v, o, mlp_norm, gate, up, down;
};
constexpr LayerNames kHfNames{.prefix = "model.layers.",
                              .attention_norm = "input_layernorm",
                              .q = "self_attn.q_proj",
                              .k = "self_attn.k_proj",
                              .v = "self_attn.v_proj",
                              .o = "self_attn.o_proj",
                              .mlp_norm = "post_attention_layernorm",
                              .gate = "mlp.gate_proj",
                              .up = "mlp.up_proj",
                              .down = "mlp.down_proj"};
constexpr LayerNames kGgufNames{.prefix = "blk.",
                                .attention_norm = "attn_norm",
                                .q = "attn_q",
                                .k = "attn_k",
                                .v = "attn_v",
                                .o = "attn_output",
                                .mlp_norm = "ffn_norm",
                                .gate = "ffn_gate",
                                .up = "ffn_up",
                                .down = "ffn_down"};

class TableMaker {
 public:
  TableMaker(const ModelSpec& spec, bool is_gguf)
      : spec_(spec),
        is_gguf_(is_gguf),
        names_(is_gguf ? kGgufNames : kHfNames) {}

  [[nodiscard]] TensorTable make() {
    add({Role::embedding,
         -1,
         is_gguf_ ? "token_embd.weight" : "model.embed_tokens.weight",
         {spec_.vocab, spec_.d_model}});
    for (i64 layer = 0; layer < spec_.n_layers; ++layer)
      add_layer(layer);
    add({Role::final_norm,
         -1,
         is_gguf_ ? "output_norm.weight" : "model.norm.weight",
         {spec_.d_model}});
    // A tied head may be stored all the same; transformers then overwrites it with the embedding.
    const std::string head = is_gguf_ ? "output.weight" : "lm_head.weight";
    if (spec_.tied_head)
      table_.unused.push_back(head);
    else
      add({Role::head, -1, head, {spec_.vocab, spec_.d_model}});
    table_.unused.emplace_back("rope_freqs.weight");
    return std::move(table_);
  }

 private:
  void add(TensorPlace place) { table_.places.push_back(std::move(place)); }

  void add_layer(i64 layer) {
    const i64 q_rows = spec_.n_heads * spec_.head_dim;
    const i64 kv_rows = spec_.n_kv_heads * spec_.head_dim;
    const std::string start = std::string(names_.prefix) + std::to_string(layer) + ".";
    const auto norm = [&](Role role, std::string_view name) {
      add({role, layer, start + std::string(name) + ".weight", {spec_.d_model}});
    };
    struct Linear {
      Role weight, bias;
      std::string_view name;
      i64 rows, cols;
      bool has_bias;
      i64 interleaved_heads = 0;
    };
    const auto linear = [&](const Linear& l) {
      const std::string name = start + std::string(l.name);
      add({l.weight, layer, name + ".weight", {l.rows, l.cols}, l.interleaved_heads});
      if (l.has_bias) add({l.bias, layer, name + ".bias", {l.rows}, l.interleaved_heads});
    };
    norm(Role::attention_norm, names_.attention_norm);
    linear({Role::q, Role::q_bias, names_.q, q_rows, spec_.d_model, spec_.qkv_bias,
            is_gguf_ ? spec_.n_heads : 0});
    linear({Role::k, Role::k_bias, names_.k, kv_rows, spec_.d_model, spec_.qkv_bias,
            is_gguf_ ? spec_.n_kv_heads : 0});
    linear({Role::v, Role::v_bias, names_.v, kv_rows, spec_.d_model, spec_.qkv_bias});
    linear({Role::o, Role::o_bias, names_.o, spec_.d_model, q_rows, spec_.output_bias});
    norm(Role::mlp_norm, names_.mlp_norm);
    linear({Role::gate, Role::gate_bias, names_.gate, spec_.d_ff, spec_.d_model, spec_.mlp_bias});
    linear({Role::up, Role::up_bias, names_.up, spec_.d_ff, spec_.d_model, spec_.mlp_bias});
    linear({Role::down, Role::down_bias, names_.down, spec_.d_model, spec_.d_ff, spec_.mlp_bias});
    table_.unused.push_back(start + "self_attn.rotary_emb.inv_freq");
  }

  const ModelSpec& spec_;
  bool is_gguf_;
  const LayerNames& names_;
  TensorTable table_;
};

TensorTable make_table(const ModelSpec& spec, const Checkpoint& checkpoint) {
  return TableMaker(spec, checkpoint.is_gguf()).make();
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
