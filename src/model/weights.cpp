#include "weights.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "sticky/base/check.hpp"

#include "row_source.hpp"

namespace sticky::model {

namespace {

constexpr i64 kRowsAtOnce = 1024;

std::vector<std::byte> encode(std::span<const float> values, DType dtype) {
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(size_bytes(dtype)));
  if (dtype == DType::f32) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  STICKY_CHECK(dtype == DType::bf16);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const BFloat16 rounded = to_bf16(values[i]);
    std::memcpy(bytes.data() + i * sizeof rounded, &rounded, sizeof rounded);
  }
  return bytes;
}

class WeightLoader {
 public:
  WeightLoader(const checkpoint::Checkpoint& checkpoint,
               const std::vector<FoundTensor>& tensors,
               backend::Backend& backend,
               const std::function<void(i64, i64)>& progress)
      : checkpoint_(checkpoint),
        backend_(backend),
        progress_(progress) {
    for (const FoundTensor& t : tensors) {
      places_[{t.place.layer, t.place.role, t.place.is_bias}].push_back(t);
      total_bytes_ += t.n_bytes();
    }
  }

  [[nodiscard]] Table embedding() {
    RowSource rows = source({Role::embedding});
    const auto storage = places_.at({kNoLayer, Role::embedding, false})[0].stored.storage;
    return load_table(rows, embedding_dtype(storage, backend_.weight_dtype()));
  }

  [[nodiscard]] Table positions() {
    if (!has(Role::positions)) return {};
    RowSource rows = source({Role::positions});
    return load_table(rows, DType::f32);
  }

  [[nodiscard]] LayerWeights layer(i64 layer) {
    layer_ = layer;
    LayerWeights w;
    w.attention_norm = norm(Role::attention_norm);
    w.qkv = linear({Role::q, Role::k, Role::v});
    w.q_norm = norm(Role::q_norm);
    w.k_norm = norm(Role::k_norm);
    w.output = linear({Role::o});
    w.post_attention_norm = norm(Role::post_attention_norm);
    w.mlp_norm = norm(Role::mlp_norm);
    w.gate_up = has(Role::gate) ? linear({Role::gate, Role::up}) : linear({Role::up});
    w.down = linear({Role::down});
    w.post_mlp_norm = norm(Role::post_mlp_norm);
    layer_ = kNoLayer;
    return w;
  }

  [[nodiscard]] Norm norm(Role role) {
    Norm made;
    if (has(role)) made.weight = vector({role}, false);
    if (has(role, true)) made.bias = vector({role}, true);
    return made;
  }

  [[nodiscard]] std::unique_ptr<Weight> head(bool tied) {
    RowSource rows = source({tied ? Role::embedding : Role::head});
    auto weight = backend_.load_weight(rows.weight_rows());
    if (!tied) advance(rows);
    return weight;
  }

 private:
  static constexpr i64 kNoLayer = -1;

  [[nodiscard]] bool has(Role role, bool is_bias = false) const {
    return places_.contains({layer_, role, is_bias});
  }

  RowSource source(std::initializer_list<Role> roles, bool is_bias = false) {
    std::vector<FoundTensor> tensors;
    for (const Role role : roles) {
      const auto& places = places_.at({layer_, role, is_bias});
      tensors.insert(tensors.end(), places.begin(), places.end());
    }
    return {checkpoint_, std::move(tensors)};
  }

  Linear linear(std::initializer_list<Role> roles) {
    RowSource rows = source(roles);
    Linear made{.weight = backend_.load_weight(rows.weight_rows()), .bias = {}};
    advance(rows);
    if (has(*roles.begin(), true)) made.bias = vector(roles, true);
    return made;
  }

  // Vectors one after the other, as one row; rows of one tensor too.
  Table vector(std::initializer_list<Role> roles, bool is_bias) {
    RowSource elements = source(roles, is_bias);
    const i64 n = elements.rows() * elements.cols();
    std::vector<float> values(static_cast<std::size_t>(n));
    elements.fill(0, elements.rows(), values.data());
    round(values);
    Table table{.buffer = backend_.allocate(n * size_bytes(DType::f32), "a norm or bias"),
                .dtype = DType::f32,
                .rows = 1,
                .cols = n};
    backend_.upload(*table.buffer, 0, std::as_bytes(std::span(values)));
    advance(elements);
    return table;
  }

  // To what the backend's weights are rounded to.
  void round(std::vector<float>& values) const {
    if (backend_.weight_dtype() == DType::bf16)
      std::ranges::transform(values, values.begin(), [](float v) { return to_float(to_bf16(v)); });
  }

  Table load_table(RowSource& rows, DType dtype) {
    const i64 row_bytes = rows.cols() * size_bytes(dtype);
    Table table{.buffer = backend_.allocate(rows.rows() * row_bytes, "an embedding"),
                .dtype = dtype,
                .rows = rows.rows(),
                .cols = rows.cols()};
    std::vector<float> values;
    for (i64 first = 0; first < rows.rows(); first += kRowsAtOnce) {
      const i64 n = std::min(kRowsAtOnce, rows.rows() - first);
      values.resize(static_cast<std::size_t>(n * rows.cols()));
      rows.fill(first, n, values.data());
      round(values);
      backend_.upload(*table.buffer, first * row_bytes, encode(values, dtype));
    }
    advance(rows);
    return table;
  }

  void advance(const RowSource& rows) {
    done_bytes_ += rows.stored_bytes();
    if (progress_) progress_(done_bytes_, total_bytes_);
  }

  const checkpoint::Checkpoint& checkpoint_;
  backend::Backend& backend_;
  const std::function<void(i64, i64)>& progress_;
  std::map<std::tuple<i64, Role, bool>, std::vector<FoundTensor>> places_;  // by layer, role, bias
  i64 layer_ = kNoLayer;
  i64 done_bytes_ = 0;
  i64 total_bytes_ = 0;
};

}  // namespace

Matrix Table::view() const {
  if (!buffer) return {};
  return {buffer->data(), dtype, rows, cols, cols};
}

DType embedding_dtype(checkpoint::Storage storage, DType weight_dtype) {
  return storage == checkpoint::Storage::bf16 ? DType::bf16 : weight_dtype;
}

Weights load_weights(const checkpoint::Checkpoint& checkpoint,
                     const std::vector<FoundTensor>& tensors,
                     const ModelSpec& spec,
                     backend::Backend& backend,
                     const std::function<void(i64 done, i64 total)>& progress) {
  WeightLoader loader(checkpoint, tensors, backend, progress);
  Weights weights;
  weights.embedding = loader.embedding();
  weights.positions = loader.positions();
  for (i64 layer = 0; layer < spec.n_layers; ++layer)
    weights.layers.push_back(loader.layer(layer));
  weights.final_norm = loader.norm(Role::final_norm);
  weights.head = loader.head(spec.tied_head);
  return weights;
}

}  // namespace sticky::model
