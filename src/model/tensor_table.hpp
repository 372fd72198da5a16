#pragma once

#include <string>
#include <vector>

#include "sticky/checkpoint/checkpoint.hpp"

namespace sticky::model {

/// What a tensor does in the transformer.
enum class Role : std::uint8_t {
  embedding,
  positions,  ///< learned ones
  attention_norm,
  q,
  k,
  v,
  q_norm,
  k_norm,
  o,
  post_attention_norm,
  mlp_norm,
  gate,
  up,
  down,
  post_mlp_norm,
  final_norm,
  head
};

/// Every n-th stretch of a tensor's rows: row r stands at
/// begin + (r / block) * step + r % block.
struct RowPart {
  i64 n_rows = 0;  ///< 0: all rows, as they stand
  i64 begin = 0;
  i64 block = 1;
  i64 step = 1;
};

/// One tensor, or a part of one, that a model needs: where its checkpoint keeps it and in which
/// form. Several places of one role follow each other.
struct TensorPlace {
  Role role = Role::embedding;
  bool is_bias = false;
  i64 layer = -1;  ///< -1: not of a layer
  std::string name;
  std::vector<i64> shape;   ///< of the whole tensor in the checkpoint
  RowPart part;             ///< where several roles share a tensor
  bool transposed = false;  ///< stored as [cols, rows]
  float minus = 0.0F;       ///< stored with this added to every element
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

  [[nodiscard]] i64 rows() const { return place.part.n_rows > 0 ? place.part.n_rows : all_rows(); }
  [[nodiscard]] i64 cols() const { return place.transposed ? stored.rows() : stored.cols(); }
  /// The place's share of what the checkpoint stores.
  [[nodiscard]] i64 n_bytes() const { return stored.size_bytes / all_rows() * rows(); }
  /// Rows of the tensor as it is used, of which the place may be a part.
  [[nodiscard]] i64 all_rows() const { return place.transposed ? stored.cols() : stored.rows(); }
};

/// Finds every place of the table. FormatError when one is missing or has another shape, or the
/// checkpoint holds a tensor that the table does not know.
[[nodiscard]] std::vector<FoundTensor> find_tensors(const TensorTable& table,
                                                    const checkpoint::Checkpoint& checkpoint);

}  // namespace sticky::model
