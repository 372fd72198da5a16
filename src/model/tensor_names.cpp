#include "tensor_names.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "sticky/base/check.hpp"

#include "gguf_config.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

bool is_of_layer(Role role) {
  return role != Role::embedding && role != Role::positions && role != Role::final_norm &&
         role != Role::head;
}

bool is_norm(Role role) {
  switch (role) {
    case Role::attention_norm:
    case Role::q_norm:
    case Role::k_norm:
    case Role::post_attention_norm:
    case Role::mlp_norm:
    case Role::post_mlp_norm:
    case Role::final_norm:
      return true;
    default:
      return false;
  }
}

bool is_used(const ModelSpec& spec, Role role) {
  switch (role) {
    case Role::positions:
      return spec.learned_positions;
    case Role::attention_norm:
      return spec.pre_norms;
    case Role::mlp_norm:
      return spec.pre_norms && spec.mlp_place != MlpPlace::beside_same_norm;
    case Role::post_attention_norm:
    case Role::post_mlp_norm:
      return spec.post_norms;
    case Role::q_norm:
    case Role::k_norm:
      return spec.qk_norm != QkNorm::none;
    case Role::gate:
      return spec.gated_mlp;
    case Role::head:
      return !spec.tied_head;
    default:
      return true;
  }
}

bool has_bias(const ModelSpec& spec, Role role) {
  switch (role) {
    case Role::q:
    case Role::k:
    case Role::v:
      return spec.qkv_bias;
    case Role::o:
      return spec.output_bias;
    case Role::gate:
    case Role::up:
    case Role::down:
      return spec.mlp_bias;
    case Role::q_norm:
    case Role::k_norm:
      return false;
    default:
      return is_norm(role) && spec.norm_bias;
  }
}

// Of a tensor that this role has to itself; a norm's counts as one row.
struct Shape {
  i64 rows = 0;
  i64 cols = 0;
};

i64 qk_norm_width(const ModelSpec& spec, i64 n_heads) {
  return spec.qk_norm == QkNorm::whole ? n_heads * spec.head_dim : spec.head_dim;
}

Shape shape_of(const ModelSpec& spec, Role role) {
  switch (role) {
    case Role::embedding:
    case Role::head:
      return {spec.vocab, spec.d_model};
    case Role::positions:
      return {spec.context, spec.d_model};
    case Role::q:
      return {spec.n_heads * spec.head_dim, spec.d_model};
    case Role::k:
    case Role::v:
      return {spec.n_kv_heads * spec.head_dim, spec.d_model};
    case Role::o:
      return {spec.d_model, spec.n_heads * spec.head_dim};
    case Role::gate:
    case Role::up:
      return {spec.d_ff, spec.d_model};
    case Role::down:
      return {spec.d_model, spec.d_ff};
    case Role::q_norm:
      return {1, qk_norm_width(spec, spec.n_heads)};
    case Role::k_norm:
      return {1, qk_norm_width(spec, spec.n_kv_heads)};
    default:
      return {1, spec.d_model};
  }
}

// A role's rows of a tensor that it may share.
struct RolePart {
  Role role;
  RowPart part;
};

std::vector<RolePart> parts_of(const ModelSpec& spec, const TensorName& name, Fused fused) {
  const i64 q = spec.n_heads * spec.head_dim;
  const i64 kv = spec.n_kv_heads * spec.head_dim;
  const i64 d = spec.head_dim;
  switch (fused) {
    case Fused::no:
      return {{name.role, {}}};
    case Fused::qkv:
      return {{Role::q, {q, 0, q, q}}, {Role::k, {kv, q, kv, kv}}, {Role::v, {kv, q + kv, kv, kv}}};
    case Fused::qkv_by_head:
      STICKY_CHECK(kv == q);
      return {{Role::q, {q, 0, d, 3 * d}},
              {Role::k, {kv, d, d, 3 * d}},
              {Role::v, {kv, 2 * d, d, 3 * d}}};
    case Fused::gate_up:
      return {{Role::gate, {spec.d_ff, 0, spec.d_ff, spec.d_ff}},
              {Role::up, {spec.d_ff, spec.d_ff, spec.d_ff, spec.d_ff}}};
  }
  return {};
}

class TableMaker {
 public:
  TableMaker(const ModelSpec& spec, const Checkpoint& checkpoint, const NameTable& names)
      : spec_(spec),
        names_(names),
        is_gguf_(checkpoint.is_gguf()),
        fuses_qkv_(is_gguf_ && checkpoint.find("blk.0.attn_qkv.weight") != nullptr) {
    const auto starts = [&](const auto& tensor) { return tensor.name.starts_with(names_.hf_root); };
    if (!is_gguf_ && std::ranges::any_of(checkpoint.tensors(), starts)) root_ = names_.hf_root;
  }

  [[nodiscard]] TensorTable make() {
    for (const TensorName& name : names_.names) {
      const std::string start = name.role == Role::head ? "" : root_;
      if (!is_of_layer(name.role)) add(name, -1, start);
    }
    for (i64 layer = 0; layer < spec_.n_layers; ++layer) {
      const std::string start =
          (is_gguf_ ? "blk." : root_ + std::string(names_.hf_layers)) + std::to_string(layer) + ".";
      for (const TensorName& name : names_.names) {
        if (is_of_layer(name.role)) add(name, layer, start);
      }
      for (const std::string_view unused : names_.hf_unused)
        table_.unused.push_back(start + std::string(unused));
    }
    if (is_gguf_ && spec_.rotary_dim > 0)
      table_.unused.insert(table_.unused.end(), std::begin(kGgufDivisors), std::end(kGgufDivisors));
    return std::move(table_);
  }

 private:
  void add(TensorName name, i64 layer, const std::string& start) {
    // A converter may have been told to fuse what its family has in three tensors.
    if (fuses_qkv_ && name.fused == Fused::no) {
      if (name.role == Role::k || name.role == Role::v) return;
      if (name.role == Role::q) name = {Role::q, "", "attn_qkv", Fused::qkv};
    }
    const std::string full = start + std::string(is_gguf_ ? name.gguf : name.hf);
    if (!is_used(spec_, name.role)) {
      // A tied head may be stored all the same; transformers then overwrites it with the embedding.
      if (name.role == Role::head) table_.unused.push_back(full + ".weight");
      return;
    }
    if (const auto star = full.find('*'); star != std::string::npos) {
      const i64 n_heads = name.role == Role::q_norm ? spec_.n_heads : spec_.n_kv_heads;
      for (i64 head = 0; head < n_heads; ++head)
        add_parts(name, layer, std::string(full).replace(star, 1, std::to_string(head)));
      return;
    }
    add_parts(name, layer, full);
  }

  void add_parts(const TensorName& name, i64 layer, const std::string& full) {
    const bool is_reordered = is_gguf_ && name.fused == Fused::qkv_by_head;
    const std::vector<RolePart> parts =
        parts_of(spec_, name, is_reordered ? Fused::qkv : name.fused);
    const Shape first = shape_of(spec_, name.role);
    i64 rows = 0;
    for (const RolePart& p : parts)
      rows += shape_of(spec_, p.role).rows;
    const bool is_vector = is_norm(name.role);
    for (const RolePart& p : parts) {
      TensorPlace place{.role = p.role,
                        .layer = layer,
                        .name = full + ".weight",
                        .shape = {rows, first.cols},
                        .part = p.part,
                        .interleaved_heads = interleaved_heads(p.role)};
      if (is_vector) place.shape = vector_shape(p.role, first.cols);
      if (is_gguf_ && is_vector) place.minus = spec_.norm_offset;
      if (names_.hf_transposed && !is_gguf_ && layer >= 0 && !is_vector) {
        place.transposed = true;
        std::swap(place.shape[0], place.shape[1]);
      }
      table_.places.push_back(place);
      if (!has_bias(spec_, p.role)) continue;
      place.is_bias = true;
      place.name = full + ".bias";
      place.shape = {is_vector ? first.cols : rows};
      place.transposed = false;
      place.minus = 0.0F;
      table_.places.push_back(place);
    }
  }

  // Norms that each head has for itself are rows of one tensor in GGUF.
  [[nodiscard]] std::vector<i64> vector_shape(Role role, i64 width) const {
    const bool is_of_heads = role == Role::q_norm || role == Role::k_norm;
    if (!is_gguf_ || !is_of_heads || spec_.qk_norm != QkNorm::each_head) return {width};
    return {role == Role::q_norm ? spec_.n_heads : spec_.n_kv_heads, width};
  }

  [[nodiscard]] i64 interleaved_heads(Role role) const {
    if (!is_gguf_ || !names_.gguf_rotary_pairs) return 0;
    return role == Role::q ? spec_.n_heads : role == Role::k ? spec_.n_kv_heads : 0;
  }

  const ModelSpec& spec_;
  const NameTable& names_;
  bool is_gguf_;
  bool fuses_qkv_;
  std::string root_;
  TensorTable table_;
};

}  // namespace

TensorTable make_tensor_table(const ModelSpec& spec,
                              const Checkpoint& checkpoint,
                              const NameTable& names) {
  return TableMaker(spec, checkpoint, names).make();
}

}  // namespace sticky::model
