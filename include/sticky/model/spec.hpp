#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/glu.hpp"
#include "sticky/base/types.hpp"
#include "sticky/checkpoint/checkpoint.hpp"

namespace sticky::model {

/// All that distinguishes one decoder-only transformer from another, as plain values. A model
/// family is a function that fills it from a checkpoint's config (src/model/families/); nothing
/// else may ask which family a model is of.
struct ModelSpec {
  std::string family;  ///< for people and files only
  i64 n_layers = 0;
  i64 d_model = 0;
  i64 d_ff = 0;
  i64 n_heads = 0;
  i64 n_kv_heads = 0;
  i64 head_dim = 0;
  i64 vocab = 0;    ///< rows of the embedding
  i64 context = 0;  ///< max_position_embeddings
  float norm_eps = 1e-5F;
  Activation activation = Activation::silu;
  double rope_theta = 10000.0;
  i64 rotary_dim = 0;  ///< leading elements of a head that are rotated
  /// [rotary_dim / 2] or empty: pair i turns by theta^(-2i / rotary_dim) / rope_divisors[i] a
  /// position. How a model's context was stretched (linear, llama3) is told by these alone.
  std::vector<double> rope_divisors;
  float attention_scale = 0.0F;  ///< on q . k
  bool tied_head = false;        ///< the output head is the embedding
  bool qkv_bias = false;
  bool output_bias = false;  ///< of attention's output projection
  bool mlp_bias = false;     ///< of gate, up and down
  std::vector<i32> eos_ids;  ///< of config and generation_config together
  std::optional<i32> bos_id;

  /// Throws FormatError that names the field out of range or at odds with another.
  void validate() const;
};

/// The spec of a checkpoint, validated. FormatError when the architecture is unknown, a key is
/// missing or of the wrong kind, or a key changes the mathematics in a way that is not understood;
/// the key is named.
[[nodiscard]] ModelSpec read_spec(const checkpoint::Checkpoint& checkpoint);

/// Bytes of keys and values that one token needs, at 4 or 2 bytes an element.
[[nodiscard]] i64 kv_bytes_per_token(const ModelSpec& spec, i64 element_bytes);

}  // namespace sticky::model
