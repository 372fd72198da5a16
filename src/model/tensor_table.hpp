#pragma once

#include <string>
#include <vector>

#include "sticky/checkpoint/checkpoint.hpp"

namespace sticky::model {

/// What a tensor does in the transformer.
enum class Role : std::uint8_t {
  embedding,
  final_norm,
  head,
  attention_norm,
  q,
  k,
  v,
  o,
  mlp_norm,
  gate,
  up,
  down,
  q_bias,
  k_bias,
  v_bias,
  o_bias,
  gate_bias,
  up_bias,
  down_bias
};

/// One tensor that a model needs: where its checkpoint keeps it and in which form.
struct TensorPlace {
  Role role = Role::embedding;
  i64 layer = -1;  ///< -1: not of a layer
  std::string name;
  std::vector<i64> shape;
  /// Heads whose rows stand in the checkpoint as rotary pairs (2i, 2i + 1) and must be put to
  /// (i, i + head_dim / 2); 0: the rows stand right.
  i64 interleaved_heads = 0;
};

/// All of a model's tensors. Made by its family; read by the loader.
struct TensorTable {
  std::vector<TensorPlace> places;
  std::vector<std::string> unused;  ///< may be in the checkpoint, but nothing is computed with them
};

/// A place together with what the checkpoint has there.
struct FoundTensor {
  TensorPlace place;
  checkpoint::TensorInfo stored;
};

/// Finds every place of the table. FormatError when one is missing or has another shape, or the
/// checkpoint holds a tensor that the table does not know.
[[nodiscard]] std::vector<FoundTensor> find_tensors(const TensorTable& table,
                                                    const checkpoint::Checkpoint& checkpoint);

}  // namespace sticky::model
