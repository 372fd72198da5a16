#pragma once

#include <memory>

#include "sticky/backend/backend.hpp"
#include "sticky/model/spec.hpp"

namespace sticky::model {

/// A buffer of f32 rows, used anew in every step.
class StepMatrix {
 public:
  StepMatrix(backend::Backend& backend, i64 max_rows, i64 cols, const char* what)
      : buffer_(backend.allocate(max_rows * cols * size_bytes(DType::f32), what)),
        max_rows_(max_rows),
        cols_(cols) {}
  /// Rows first … first + n - 1.
  [[nodiscard]] Matrix rows(i64 first, i64 n) const {
    STICKY_CHECK(0 <= first && 0 <= n && n <= max_rows_ - first);
    return {static_cast<float*>(buffer_->data()) + first * cols_, DType::f32, n, cols_, cols_};
  }
  [[nodiscard]] const backend::Buffer& buffer() const { return *buffer_; }

 private:
  std::unique_ptr<backend::Buffer> buffer_;
  i64 max_rows_;
  i64 cols_;
};

inline constexpr i64 kLogitRows = 64;  ///< rows that the head is computed for at once

/// The activations of one step, allocated once for the longest step.
struct StepBuffers {
  StepBuffers(backend::Backend& backend, const ModelSpec& spec, i64 max_tokens)
      : residual(backend, max_tokens, spec.d_model, "the residual stream"),
        normed(backend, max_tokens, spec.d_model, "normed activations"),
        qkv(backend, max_tokens, (spec.n_heads + 2 * spec.n_kv_heads) * spec.head_dim, "q, k, v"),
        attended(backend, max_tokens, spec.n_heads * spec.head_dim, "attention's output"),
        branch(backend, spec.post_norms ? max_tokens : 0, spec.d_model, "a layer's branch"),
        gate_up(backend, max_tokens, gate_up_cols(spec), "gate and up"),
        activated(backend, max_tokens, spec.d_ff, "the MLP's activations"),
        last(backend, kLogitRows, spec.d_model, "the head's input"),
        logits(backend, kLogitRows, spec.vocab, "logits") {}

  [[nodiscard]] static i64 gate_up_cols(const ModelSpec& spec) {
    return (spec.gated_mlp ? 2 : 1) * spec.d_ff;
  }
  [[nodiscard]] static i64 n_bytes(const ModelSpec& spec, i64 max_tokens) {
    const i64 per_token = (spec.post_norms ? 3 : 2) * spec.d_model +
                          (2 * spec.n_heads + 2 * spec.n_kv_heads) * spec.head_dim +
                          gate_up_cols(spec) + spec.d_ff;
    return (max_tokens * per_token + kLogitRows * (spec.d_model + spec.vocab)) *
           size_bytes(DType::f32);
  }

  StepMatrix residual;   ///< [n_tokens, d_model]
  StepMatrix normed;     ///< [n_tokens, d_model]
  StepMatrix qkv;        ///< [n_tokens, (n_heads + 2 n_kv_heads) * head_dim]
  StepMatrix attended;   ///< [n_tokens, n_heads * head_dim]
  StepMatrix branch;     ///< [n_tokens, d_model]: what is normed before it is added
  StepMatrix gate_up;    ///< [n_tokens, 2 d_ff], or d_ff wide
  StepMatrix activated;  ///< [n_tokens, d_ff]
  StepMatrix last;       ///< [kLogitRows, d_model]
  StepMatrix logits;     ///< [kLogitRows, vocab]
};

}  // namespace sticky::model
