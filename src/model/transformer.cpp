#include "transformer.hpp"

#include <algorithm>
#include <utility>

#include "sticky/base/check.hpp"

#include "position_tables.hpp"

namespace sticky::model {

namespace {

Table upload_table(backend::Backend& backend,
                   const std::vector<float>& values,
                   i64 rows,
                   i64 cols) {
  Table table{.buffer = backend.allocate(rows * cols * size_bytes(DType::f32), "position tables"),
              .dtype = DType::f32,
              .rows = rows,
              .cols = cols};
  backend.upload(*table.buffer, 0, std::as_bytes(std::span(values)));
  return table;
}

float rounded(double value, DType dtype) {
  const auto v = static_cast<float>(value);
  return dtype == DType::bf16 ? to_float(to_bf16(v)) : v;
}

RopeTables upload_rope(backend::Backend& backend, const Rope& rope, i64 rotary_dim, i64 context) {
  if (rotary_dim == 0) return {};
  const PositionTables tables = make_position_tables(rope, rotary_dim, context);
  return {.cos = upload_table(backend, tables.cos, context, rotary_dim / 2),
          .sin = upload_table(backend, tables.sin, context, rotary_dim / 2)};
}

}  // namespace

Transformer::Transformer(std::shared_ptr<backend::Backend> backend,
                         ModelSpec spec,
                         Weights weights,
                         const MemoryPlan& plan,
                         i64 max_batch_tokens)
    : backend_(std::move(backend)),
      spec_(std::move(spec)),
      weights_(std::move(weights)),
      context_(plan.context),
      n_pages_(plan.kv_tokens / kPageTokens),
      max_batch_tokens_(max_batch_tokens),
      embedding_scale_(rounded(spec_.embedding_scale, backend_->weight_dtype())),
      step_(*backend_, spec_, max_batch_tokens) {
  rope_ = upload_rope(*backend_, spec_.rope, spec_.rotary_dim, context_);
  if (spec_.window_rope)
    window_rope_ = upload_rope(*backend_, *spec_.window_rope, spec_.rotary_dim, context_);
  const i64 pool_bytes =
      n_pages_ * kPageTokens * spec_.n_kv_heads * spec_.head_dim * size_bytes(DType::f32);
  for (i64 layer = 0; layer < spec_.n_layers; ++layer) {
    cache_.push_back({.k = backend_->allocate(pool_bytes, "the KV cache"),
                      .v = backend_->allocate(pool_bytes, "the KV cache")});
  }
}

Limits Transformer::limits() const {
  return {.vocab = spec_.vocab, .context = context_, .n_pages = n_pages_};
}

void Transformer::check(const StepBatch& batch, Rows<float> logits) const {
  const auto n_tokens = static_cast<i64>(batch.tokens.size());
  STICKY_CHECK(n_tokens <= max_batch_tokens_);
  STICKY_CHECK(logits.rows == static_cast<i64>(batch.logit_rows.size()));
  STICKY_CHECK(logits.rows == 0 || logits.cols == spec_.vocab);
  i64 next_row = 0;
  for (const SequenceRows& s : batch.sequences) {
    STICKY_CHECK(s.first_row == next_row && s.n_rows >= 0);
    next_row += s.n_rows;
    const i64 end = s.first_position + s.n_rows;
    STICKY_CHECK(s.first_position >= 0 && end <= context_);
    STICKY_CHECK(end <= static_cast<i64>(s.pages.size()) * kPageTokens);
    const auto exists = [&](i32 page) { return page >= 0 && page < n_pages_; };
    STICKY_CHECK(std::ranges::all_of(s.pages, exists));
  }
  STICKY_CHECK(next_row == n_tokens);
  for (const i32 row : batch.logit_rows)
    STICKY_CHECK(row >= 0 && row < n_tokens);
}

void Transformer::norm(const Norm& w, ConstMatrix x, Matrix y, NormUse use) {
  if (spec_.norm == NormKind::layer) {
    return backend_->layernorm({.x = x,
                                .weight = w.weight.view(),
                                .bias = w.bias.view(),
                                .eps = spec_.norm_eps,
                                .group = use.group,
                                .accumulate = use.accumulate,
                                .y = y});
  }
  backend_->rmsnorm({.x = x,
                     .weight = w.weight.view(),
                     .eps = spec_.norm_eps,
                     .weight_offset = spec_.norm_offset,
                     .group = use.group,
                     .accumulate = use.accumulate,
                     .y = y});
}

ConstMatrix Transformer::branch_input(const Norm& w, i64 n) {
  if (!spec_.pre_norms) return step_.residual.rows(0, n);
  norm(w, step_.residual.rows(0, n), step_.normed.rows(0, n));
  return step_.normed.rows(0, n);
}

void Transformer::add_branch(const Linear& w, const Norm& post_norm, ConstMatrix x) {
  const Matrix residual = step_.residual.rows(0, x.rows);
  const Matrix y = spec_.post_norms ? step_.branch.rows(0, x.rows) : residual;
  backend_->gemm({.x = x,
                  .w = w.weight.get(),
                  .bias = w.bias.view(),
                  .accumulate = !spec_.post_norms,
                  .y = y});
  if (spec_.post_norms) norm(post_norm, y, residual, {.accumulate = true});
}

void Transformer::norm_heads(const LayerWeights& w, Matrix qkv) {
  if (spec_.qk_norm == QkNorm::none) return;
  const NormUse use{.group = spec_.qk_norm == QkNorm::whole ? 0 : spec_.head_dim};
  Matrix q = qkv;
  q.cols = spec_.n_heads * spec_.head_dim;
  Matrix k = qkv;
  k.data = static_cast<float*>(qkv.data) + q.cols;
  k.cols = spec_.n_kv_heads * spec_.head_dim;
  norm(w.q_norm, q, q, use);
  norm(w.k_norm, k, k, use);
}

Matrix Transformer::attend(i64 layer, const StepBatch& batch) {
  const auto n = static_cast<i64>(batch.tokens.size());
  const LayerWeights& w = weights_.layers[static_cast<std::size_t>(layer)];
  const LayerCache& cache = cache_[static_cast<std::size_t>(layer)];
  const i64 window = spec_.window(layer);
  const RopeTables& rope = window > 0 && spec_.window_rope ? window_rope_ : rope_;
  const KvPages kv{.k = cache.k->data(),
                   .v = cache.v->data(),
                   .dtype = DType::f32,
                   .n_pages = n_pages_,
                   .n_kv_heads = spec_.n_kv_heads,
                   .head_dim = spec_.head_dim};
  const Matrix qkv = step_.qkv.rows(0, n);
  Matrix q = qkv;
  q.cols = spec_.n_heads * spec_.head_dim;
  backend_->gemm({.x = branch_input(w.attention_norm, n),
                  .w = w.qkv.weight.get(),
                  .bias = w.qkv.bias.view(),
                  .accumulate = false,
                  .y = qkv});
  norm_heads(w, qkv);
  backend_->rope_and_store({.qkv = qkv,
                            .n_heads = spec_.n_heads,
                            .cos = rope.cos.view(),
                            .sin = rope.sin.view(),
                            .sequences = batch.sequences,
                            .kv = kv});
  backend_->attention({.q = q,
                       .n_heads = spec_.n_heads,
                       .sequences = batch.sequences,
                       .kv = kv,
                       .scale = spec_.attention_scale,
                       .window = window,
                       .softcap = spec_.attention_softcap,
                       .y = step_.attended.rows(0, n)});
  return step_.attended.rows(0, n);
}

void Transformer::run_mlp(const LayerWeights& w, ConstMatrix x) {
  const Matrix up = step_.gate_up.rows(0, x.rows);
  const Matrix activated = step_.activated.rows(0, x.rows);
  backend_->gemm({.x = x,
                  .w = w.gate_up.weight.get(),
                  .bias = w.gate_up.bias.view(),
                  .accumulate = false,
                  .y = up});
  if (spec_.gated_mlp)
    backend_->glu({.x = up, .activation = spec_.activation, .y = activated});
  else
    backend_->activate({.x = up, .activation = spec_.activation, .y = activated});
  add_branch(w.down, w.post_mlp_norm, activated);
}

void Transformer::run_layer(i64 layer, const StepBatch& batch) {
  const auto n = static_cast<i64>(batch.tokens.size());
  const LayerWeights& w = weights_.layers[static_cast<std::size_t>(layer)];
  const Matrix attended = attend(layer, batch);
  if (spec_.mlp_place == MlpPlace::behind) {
    add_branch(w.output, w.post_attention_norm, attended);
    run_mlp(w, branch_input(w.mlp_norm, n));
    return;
  }
  // The MLP reads the residual stream as it was before attention.
  const ConstMatrix x = spec_.mlp_place == MlpPlace::beside_same_norm ? step_.normed.rows(0, n)
                                                                      : branch_input(w.mlp_norm, n);
  add_branch(w.output, w.post_attention_norm, attended);
  run_mlp(w, x);
}

void Transformer::compute_logits(std::span<const i32> rows, Rows<float> logits) {
  const auto n = static_cast<i64>(rows.size());
  // Gathers the rows while it norms them; a step of decoding asks for neighbours.
  for (i64 i = 0; i < n;) {
    i64 run = 1;
    while (i + run < n &&
           rows[static_cast<std::size_t>(i + run)] == rows[static_cast<std::size_t>(i)] + run)
      ++run;
    norm(weights_.final_norm, step_.residual.rows(rows[static_cast<std::size_t>(i)], run),
         step_.last.rows(i, run));
    i += run;
  }
  backend_->gemm({.x = step_.last.rows(0, n),
                  .w = weights_.head.get(),
                  .bias = {},
                  .accumulate = false,
                  .y = step_.logits.rows(0, n)});
  if (spec_.logit_softcap > 0.0F)
    backend_->softcap({.x = step_.logits.rows(0, n), .cap = spec_.logit_softcap});
  for (i64 i = 0; i < n; ++i) {
    backend_->download(
        step_.logits.buffer(), i * spec_.vocab * size_bytes(DType::f32),
        std::as_writable_bytes(std::span(logits.row(i), static_cast<std::size_t>(spec_.vocab))));
  }
}

void Transformer::forward(const StepBatch& batch, Rows<float> logits) {
  check(batch, logits);
  const auto n = static_cast<i64>(batch.tokens.size());
  backend_->embed({.tokens = batch.tokens,
                   .table = weights_.embedding.view(),
                   .scale = embedding_scale_,
                   .positions = weights_.positions.view(),
                   .sequences = batch.sequences,
                   .y = step_.residual.rows(0, n)});
  for (i64 layer = 0; layer < spec_.n_layers; ++layer)
    run_layer(layer, batch);
  const std::span<const i32> rows(batch.logit_rows);
  for (i64 first = 0; first < logits.rows; first += kLogitRows) {
    const i64 n_rows = std::min(kLogitRows, logits.rows - first);
    compute_logits(rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n_rows)),
                   logits.slice(first, n_rows));
  }
}

}  // namespace sticky::model
