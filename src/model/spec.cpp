#include "sticky/model/spec.hpp"

#include <cmath>
#include <limits>

#include "sticky/base/error.hpp"

#include "families.hpp"

namespace sticky::model {

namespace {

void require(bool holds, std::string_view what) {
  if (!holds) fail<FormatError>("model: {}", what);
}

void require_count(std::string_view field, i64 value, i64 most = std::numeric_limits<i32>::max()) {
  if (value < 1 || value > most)
    fail<FormatError>("model: {} is {}, but must be from 1 to {}", field, value, most);
}

void require_positive(std::string_view field, double value) {
  if (!std::isfinite(value) || value <= 0)
    fail<FormatError>("model: {} is {}, but must be positive and finite", field, value);
}

void require_divisors(const std::vector<double>& divisors, i64 rotary_dim) {
  require(divisors.empty() || static_cast<i64>(divisors.size()) == rotary_dim / 2,
          "the number of rope divisors is not rotary_dim / 2");
  for (const double divisor : divisors)
    require_positive("a rope divisor", divisor);
}

void require_rope(const Rope& rope, i64 rotary_dim) {
  require_divisors(rope.divisors, rotary_dim);
  require_divisors(rope.long_divisors, rotary_dim);
  require(rope.long_divisors.empty() == (rope.long_above == 0),
          "long_above stands without divisors, or they without it");
  require_positive("rope.scale", rope.scale);
  require(std::isfinite(rope.theta) && rope.theta > 1, "rope.theta is not above 1 and finite");
}

}  // namespace

void ModelSpec::validate() const {
  require_count("n_layers", n_layers, kMaxLayers);
  require_count("d_model", d_model);
  require_count("d_ff", d_ff);
  require_count("n_heads", n_heads);
  require_count("n_kv_heads", n_kv_heads);
  require_count("n_layers * n_heads", n_layers * n_heads, kMaxLayersTimesHeads);
  require_count("head_dim", head_dim);
  require_count("vocab", vocab);
  require_count("context", context);
  if (n_heads % n_kv_heads != 0) {
    fail<FormatError>("model: n_heads is {}, which is no multiple of n_kv_heads, {}", n_heads,
                      n_kv_heads);
  }
  // Products of two of these are sizes; each fits i64, but a matrix must be thinkable too.
  require_count("n_heads * head_dim", n_heads * head_dim);
  require_count("2 * d_ff", 2 * d_ff);
  if (rotary_dim < 0 || rotary_dim > head_dim || rotary_dim % 2 != 0) {
    fail<FormatError>("model: rotary_dim is {}, but must be even and from 0 to head_dim, {}",
                      rotary_dim, head_dim);
  }
  require_rope(rope, rotary_dim);
  if (window_rope) require_rope(*window_rope, rotary_dim);
  require(windows.empty() || static_cast<i64>(windows.size()) == n_layers,
          "the number of windows is not n_layers");
  for (const i64 window : windows)
    require(window >= 0, "a window is negative");
  require(pre_norms || mlp_place == MlpPlace::behind,
          "pre_norms is off, but an MLP beside attention needs a norm before both");
  require(std::isfinite(norm_eps) && norm_eps >= 0, "norm_eps is negative or not finite");
  require(std::isfinite(norm_offset), "norm_offset is not finite");
  require_positive("embedding_scale", embedding_scale);
  require_positive("attention_scale", attention_scale);
  require(std::isfinite(attention_softcap) && attention_softcap >= 0,
          "attention_softcap is negative or not finite");
  require(std::isfinite(logit_softcap) && logit_softcap >= 0,
          "logit_softcap is negative or not finite");
}

ModelSpec read_spec(const checkpoint::Checkpoint& checkpoint) {
  const Family& family = family_of(checkpoint);
  ModelSpec spec = checkpoint.is_gguf() ? family.read_gguf(checkpoint) : family.read_hf(checkpoint);
  try {
    spec.validate();
  } catch (const FormatError& e) {
    fail<FormatError>("{}: {}", checkpoint.path(), e.what());
  }
  return spec;
}

i64 kv_bytes_per_token(const ModelSpec& spec, i64 element_bytes) {
  return spec.n_layers * 2 * spec.n_kv_heads * spec.head_dim * element_bytes;
}

}  // namespace sticky::model
