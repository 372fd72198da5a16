#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "sticky/checkpoint/checkpoint.hpp"

namespace sticky::test {

/// A checkpoint without files: f32 tensors and a config, to be changed as a test likes.
class MemoryCheckpoint final : public checkpoint::Checkpoint {
 public:
  explicit MemoryCheckpoint(bool gguf = false) : is_gguf_(gguf) {}
  MemoryCheckpoint(const MemoryCheckpoint& other)
      : config_(other.config_),
        generation_config_(other.generation_config_),
        values_(other.values_),
        tensors_(other.tensors_),
        is_gguf_(other.is_gguf_) {}

  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] bool is_gguf() const override { return is_gguf_; }
  [[nodiscard]] const Json& config() const override { return config_; }
  [[nodiscard]] const Json& generation_config() const override { return generation_config_; }
  [[nodiscard]] const std::vector<checkpoint::TensorInfo>& tensors() const override {
    return tensors_;
  }
  void read_rows(const checkpoint::TensorInfo& tensor,
                 i64 first,
                 i64 n,
                 std::span<float> out) const override {
    const auto& all = values_.at(tensor.name);
    std::copy_n(all.begin() + first * tensor.cols(), n * tensor.cols(), out.begin());
  }

  void put(const std::string& name, std::vector<i64> shape, std::vector<float> values) {
    remove(name);
    tensors_.push_back({.name = name,
                        .storage = checkpoint::Storage::f32,
                        .shape = std::move(shape),
                        .size_bytes = static_cast<i64>(values.size() * sizeof(float))});
    values_[name] = std::move(values);
  }
  void remove(const std::string& name) {
    std::erase_if(tensors_, [&](const auto& t) { return t.name == name; });
    values_.erase(name);
  }
  void set(const std::string& key, Json value) { set_in(config_, key, std::move(value)); }
  void set_generation(const std::string& key, Json value) {
    set_in(generation_config_, key, std::move(value));
  }
  [[nodiscard]] const std::vector<float>& values(const std::string& name) const {
    return values_.at(name);
  }

 private:
  static void set_in(Json& object, const std::string& key, Json value) {
    if (Json* old = object.find(key)) {
      *old = std::move(value);
    } else {
      object.as_object().push_back({key, std::move(value)});
    }
  }

  std::string path_ = "MODEL";
  Json config_ = Json::object();
  Json generation_config_ = Json::object();
  std::map<std::string, std::vector<float>> values_;
  std::vector<checkpoint::TensorInfo> tensors_;
  bool is_gguf_;
};

/// Sizes of a small Llama in which no two are equal, so that none can stand for another.
struct SmallLlama {
  i64 n_layers = 2;
  i64 d_model = 20;
  i64 d_ff = 28;
  i64 n_heads = 6;
  i64 n_kv_heads = 3;
  i64 head_dim = 8;
  i64 vocab = 40;
  i64 context = 64;
  bool biases = false;
  bool tied = false;
};

/// Random weights under the names of a Hugging Face folder, the same on every machine.
inline MemoryCheckpoint small_llama(const SmallLlama& sizes = {}) {
  MemoryCheckpoint out;
  out.set("architectures", Json::array({"LlamaForCausalLM"}));
  out.set("num_hidden_layers", sizes.n_layers);
  out.set("hidden_size", sizes.d_model);
  out.set("intermediate_size", sizes.d_ff);
  out.set("num_attention_heads", sizes.n_heads);
  out.set("num_key_value_heads", sizes.n_kv_heads);
  out.set("head_dim", sizes.head_dim);
  out.set("vocab_size", sizes.vocab);
  out.set("max_position_embeddings", sizes.context);
  out.set("rms_norm_eps", 0.01);  // large, so that one in the wrong place is seen
  out.set("rope_theta", 100.0);
  out.set("tie_word_embeddings", sizes.tied);
  out.set("attention_bias", sizes.biases);
  out.set("mlp_bias", sizes.biases);
  std::mt19937 random(7);
  const auto put = [&](const std::string& name, const std::vector<i64>& shape) {
    i64 n = 1;
    for (const i64 d : shape)
      n *= d;
    std::vector<float> values(static_cast<std::size_t>(n));
    for (float& v : values)
      v = static_cast<float>(random() >> 8) * 0x1p-23F - 1.0F;  // uniform in [-1, 1)
    out.put(name, shape, std::move(values));
  };
  put("model.embed_tokens.weight", {sizes.vocab, sizes.d_model});
  for (i64 layer = 0; layer < sizes.n_layers; ++layer) {
    const std::string start = "model.layers." + std::to_string(layer) + ".";
    const auto linear = [&](const std::string& name, i64 rows, i64 cols) {
      put(start + name + ".weight", {rows, cols});
      if (sizes.biases) put(start + name + ".bias", {rows});
    };
    put(start + "input_layernorm.weight", {sizes.d_model});
    linear("self_attn.q_proj", sizes.n_heads * sizes.head_dim, sizes.d_model);
    linear("self_attn.k_proj", sizes.n_kv_heads * sizes.head_dim, sizes.d_model);
    linear("self_attn.v_proj", sizes.n_kv_heads * sizes.head_dim, sizes.d_model);
    linear("self_attn.o_proj", sizes.d_model, sizes.n_heads * sizes.head_dim);
    put(start + "post_attention_layernorm.weight", {sizes.d_model});
    linear("mlp.gate_proj", sizes.d_ff, sizes.d_model);
    linear("mlp.up_proj", sizes.d_ff, sizes.d_model);
    linear("mlp.down_proj", sizes.d_model, sizes.d_ff);
  }
  put("model.norm.weight", {sizes.d_model});
  if (!sizes.tied) put("lm_head.weight", {sizes.vocab, sizes.d_model});
  return out;
}

}  // namespace sticky::test
