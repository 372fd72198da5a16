#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sticky/backend/backend.hpp"
#include "sticky/model/spec.hpp"

#include "tensor_table.hpp"

namespace sticky::model {

/// A matrix in device memory.
struct Table {
  std::unique_ptr<backend::Buffer> buffer;
  DType dtype = DType::f32;
  i64 rows = 0;
  i64 cols = 0;

  /// Empty when there is no such table (a bias that the model does not have).
  [[nodiscard]] Matrix view() const;
};

/// y = w x + bias.
struct Linear {
  std::unique_ptr<Weight> weight;
  Table bias;
};

/// Both [1, width]; the bias may be empty.
struct Norm {
  Table weight;
  Table bias;
};

/// What the spec does not ask for is empty.
struct LayerWeights {
  Norm attention_norm;
  Linear qkv;  ///< [(n_heads + 2 n_kv_heads) * head_dim, d_model]
  Norm q_norm;
  Norm k_norm;
  Linear output;  ///< [d_model, n_heads * head_dim]
  Norm post_attention_norm;
  Norm mlp_norm;
  Linear gate_up;  ///< [2 d_ff, d_model]; without a gate [d_ff, d_model]
  Linear down;     ///< [d_model, d_ff]
  Norm post_mlp_norm;
};

/// All that a model learnt, in the memory of one backend.
struct Weights {
  Table embedding;  ///< [vocab, d_model]
  Table positions;  ///< [context, d_model] f32, or empty
  std::vector<LayerWeights> layers;
  Norm final_norm;
  std::unique_ptr<Weight> head;  ///< [vocab, d_model]
};

/// How the embedding is kept: in bf16 where it was stored so or the backend rounds its weights so,
/// else in f32.
[[nodiscard]] DType embedding_dtype(checkpoint::Storage storage, DType weight_dtype);

/// Reads every tensor once (a tied embedding twice). `progress` is called with bytes read so far
/// and in all.
[[nodiscard]] Weights load_weights(const checkpoint::Checkpoint& checkpoint,
                                   const std::vector<FoundTensor>& tensors,
                                   const ModelSpec& spec,
                                   backend::Backend& backend,
                                   const std::function<void(i64 done, i64 total)>& progress);

}  // namespace sticky::model
