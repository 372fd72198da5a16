#pragma once

#include <memory>
#include <vector>

#include "sticky/backend/backend.hpp"
#include "sticky/model/language_model.hpp"
#include "sticky/model/memory_plan.hpp"
#include "sticky/model/spec.hpp"

#include "step_buffers.hpp"
#include "weights.hpp"

namespace sticky::model {

/// [context, rotary_dim / 2] each; empty where nothing is rotated.
struct RopeTables {
  Table cos;
  Table sin;
};

/// A decoder-only transformer that its spec describes, on one backend:
///   x = embed(tokens)
///   each layer: x += output(attention(rope(qkv(norm(x)))));  x += down(glu(gate_up(norm(x))))
///   logits = head(norm(x)), for the rows that ask for them
/// ModelSpec tells where norms stand, which of these are capped, and the like.
/// The bits of a row's logits depend on its sequence's tokens alone: not on the other rows of the
/// step, nor on how the sequence was cut into steps (each operation promises it for its rows).
class Transformer final : public LanguageModel {
 public:
  Transformer(std::shared_ptr<backend::Backend> backend,
              ModelSpec spec,
              Weights weights,
              const MemoryPlan& plan,
              i64 max_batch_tokens);

  [[nodiscard]] Limits limits() const override;
  /// A batch of more than max_batch_tokens rows, or positions, pages or rows outside their limits,
  /// are bugs of the caller.
  void forward(const StepBatch& batch, Rows<float> logits) override;

 private:
  struct LayerCache {
    std::unique_ptr<backend::Buffer> k;
    std::unique_ptr<backend::Buffer> v;
  };

  void check(const StepBatch& batch, Rows<float> logits) const;
  void run_layer(i64 layer, const StepBatch& batch);
  [[nodiscard]] Matrix attend(i64 layer, const StepBatch& batch);
  void norm_heads(const LayerWeights& w, Matrix qkv);
  void run_mlp(const LayerWeights& w, ConstMatrix x);
  /// What attention or the MLP reads: a norm of the residual stream, or itself.
  [[nodiscard]] ConstMatrix branch_input(const Norm& w, i64 n_tokens);
  /// Residual stream += (norm of) w x.
  void add_branch(const Linear& w, const Norm& post_norm, ConstMatrix x);
  void compute_logits(std::span<const i32> rows, Rows<float> logits);
  struct NormUse {
    i64 group = 0;
    bool accumulate = false;
  };
  void norm(const Norm& w, ConstMatrix x, Matrix y, NormUse use);
  void norm(const Norm& w, ConstMatrix x, Matrix y) { norm(w, x, y, NormUse()); }

  std::shared_ptr<backend::Backend> backend_;
  ModelSpec spec_;
  Weights weights_;
  i64 context_;
  i64 n_pages_;
  i64 max_batch_tokens_;
  float embedding_scale_;
  RopeTables rope_;
  RopeTables window_rope_;
  std::vector<LayerCache> cache_;
  StepBuffers step_;
};

}  // namespace sticky::model
