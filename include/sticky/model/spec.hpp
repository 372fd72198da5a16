#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/glu.hpp"
#include "sticky/base/types.hpp"
#include "sticky/checkpoint/checkpoint.hpp"

namespace sticky::model {

enum class NormKind : std::uint8_t { rms, layer };

/// What q and k are normed over before they are rotated.
enum class QkNorm : std::uint8_t {
  none,
  head,       ///< each head by itself, all heads with the same weights
  each_head,  ///< each head by itself, with weights of its own
  whole       ///< all heads of a row together
};

/// Where the MLP stands beside attention.
enum class MlpPlace : std::uint8_t {
  behind,            ///< x += attention(norm(x)), then x += mlp(norm(x))
  beside,            ///< x += attention(norm(x)) + mlp(other norm(x))
  beside_same_norm,  ///< the same with one norm for both
};

/// How positions turn the pairs of a head: pair i by theta^(-2i / rotary_dim) / divisors[i] a
/// position. How a model's context was stretched (linear, llama3, yarn, longrope) is told by these
/// alone.
struct Rope {
  double theta = 10000.0;
  std::vector<double> divisors{};  ///< [rotary_dim / 2], or empty: 1
  double scale = 1.0;              ///< on cos and sin
  /// Where a state's context is longer than long_above: these in the place of divisors (longrope).
  /// transformers chooses by each text's length; one choice for a state keeps an answer independent
  /// of when it was asked for, and in contexts up to long_above it is transformers' choice.
  std::vector<double> long_divisors{};
  i64 long_above = 0;
};

/// A table of all layers' tensors, some of them one for each head, is made before one of them is
/// looked for: what a config says must not make it endless.
inline constexpr i64 kMaxLayers = 10'000;
inline constexpr i64 kMaxLayersTimesHeads = 1 << 18;

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
  // x is the residual stream.
  double embedding_scale = 1.0;    ///< rounded to the arithmetic's type
  bool learned_positions = false;  ///< a vector of each position is added to the embedding
  NormKind norm = NormKind::rms;
  float norm_eps = 1e-5F;
  float norm_offset = 0.0F;  ///< added to the weights of every norm
  bool norm_bias = false;    ///< of those over x
  bool pre_norms = true;     ///< attention and MLP read norms of x, else x itself
  bool post_norms = false;   ///< what attention and MLP give is normed before it is added to x
  MlpPlace mlp_place = MlpPlace::behind;
  bool gated_mlp = true;  ///< down(act(gate x) * up x), else down(act(up x))
  Activation activation = Activation::silu;
  QkNorm qk_norm = QkNorm::none;
  i64 rotary_dim = 0;  ///< leading elements of a head that are rotated; 0: none
  Rope rope;
  std::optional<Rope> window_rope;  ///< of layers with a window, where it is another
  std::vector<i64> windows;         ///< [n_layers]: positions that a token sees, itself included;
                                    ///< 0: all before it; empty: 0 in every layer
  float attention_scale = 0.0F;     ///< on q . k
  float attention_softcap = 0.0F;   ///< see Attention; 0: none
  float logit_softcap = 0.0F;       ///< see Softcap; 0: none
  bool tied_head = false;           ///< the output head is the embedding
  bool qkv_bias = false;
  bool output_bias = false;  ///< of attention's output projection
  bool mlp_bias = false;     ///< of gate, up and down
  std::vector<i32> eos_ids;  ///< of config and generation_config together
  std::optional<i32> bos_id;

  [[nodiscard]] i64 window(i64 layer) const {
    return windows.empty() ? 0 : windows[static_cast<std::size_t>(layer)];
  }
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
