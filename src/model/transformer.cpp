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
      step_(*backend_, spec_, max_batch_tokens) {
  const PositionTables tables = make_position_tables(spec_, context_);
  cos_ = upload_table(*backend_, tables.cos, context_, spec_.rotary_dim / 2);
  sin_ = upload_table(*backend_, tables.sin, context_, spec_.rotary_dim / 2);
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

void Transformer::norm(const Table& weight, ConstMatrix x, Matrix y) {
  backend_->rmsnorm(
      {.x = x, .weight = weight.view(), .eps = spec_.norm_eps, .weight_offset = 0.0F, .y = y});
}

void Transformer::attention_part(i64 layer, const StepBatch& batch) {
  const auto n = static_cast<i64>(batch.tokens.size());
  const LayerWeights& w = weights_.layers[static_cast<std::size_t>(layer)];
  const LayerCache& cache = cache_[static_cast<std::size_t>(layer)];
  const KvPages kv{.k = cache.k->data(),
                   .v = cache.v->data(),
                   .dtype = DType::f32,
                   .n_pages = n_pages_,
                   .n_kv_heads = spec_.n_kv_heads,
                   .head_dim = spec_.head_dim};
  const Matrix qkv = step_.qkv.rows(0, n);
  Matrix q = qkv;
  q.cols = spec_.n_heads * spec_.head_dim;
  norm(w.attention_norm, step_.residual.rows(0, n), step_.normed.rows(0, n));
  backend_->gemm({.x = step_.normed.rows(0, n),
                  .w = w.qkv.weight.get(),
                  .bias = w.qkv.bias.view(),
                  .accumulate = false,
                  .y = qkv});
  backend_->rope_and_store({.qkv = qkv,
                            .n_heads = spec_.n_heads,
                            .cos = cos_.view(),
                            .sin = sin_.view(),
                            .sequences = batch.sequences,
                            .kv = kv});
  backend_->attention({.q = q,
                       .n_heads = spec_.n_heads,
                       .sequences = batch.sequences,
                       .kv = kv,
                       .scale = spec_.attention_scale,
                       .window = 0,
                       .softcap = 0.0F,
                       .y = step_.attended.rows(0, n)});
  backend_->gemm({.x = step_.attended.rows(0, n),
                  .w = w.output.weight.get(),
                  .bias = w.output.bias.view(),
                  .accumulate = true,
                  .y = step_.residual.rows(0, n)});
}

void Transformer::mlp_part(i64 layer, i64 n) {
  const LayerWeights& w = weights_.layers[static_cast<std::size_t>(layer)];
  norm(w.mlp_norm, step_.residual.rows(0, n), step_.normed.rows(0, n));
  backend_->gemm({.x = step_.normed.rows(0, n),
                  .w = w.gate_up.weight.get(),
                  .bias = w.gate_up.bias.view(),
                  .accumulate = false,
                  .y = step_.gate_up.rows(0, n)});
  backend_->glu({.x = step_.gate_up.rows(0, n),
                 .activation = spec_.activation,
                 .y = step_.activated.rows(0, n)});
  backend_->gemm({.x = step_.activated.rows(0, n),
                  .w = w.down.weight.get(),
                  .bias = w.down.bias.view(),
                  .accumulate = true,
                  .y = step_.residual.rows(0, n)});
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
                   .scale = 1.0F,
                   .y = step_.residual.rows(0, n)});
  for (i64 layer = 0; layer < spec_.n_layers; ++layer) {
    attention_part(layer, batch);
    mlp_part(layer, n);
  }
  const std::span<const i32> rows(batch.logit_rows);
  for (i64 first = 0; first < logits.rows; first += kLogitRows) {
    const i64 n_rows = std::min(kLogitRows, logits.rows - first);
    compute_logits(rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n_rows)),
                   logits.slice(first, n_rows));
  }
}

}  // namespace sticky::model
