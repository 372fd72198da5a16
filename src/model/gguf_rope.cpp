// Rotary positions as GGUF tells them. Judge of every key: gguf.md, and where that is silent, what
// llama.cpp's conversion writes and its graph computes.
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sticky/base/error.hpp"

#include "gguf_config.hpp"
#include "rope_scaling.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;
using checkpoint::TensorInfo;

constexpr std::string_view kType = "rope.scaling.type";
constexpr std::string_view kFactor = "rope.scaling.factor";
constexpr std::string_view kSharpening = "rope.scaling.attn_factor";

void read_rotary_dim(ConfigReader& config, ModelSpec& spec, bool may_be_partial) {
  constexpr std::string_view kKey = "rope.dimension_count";
  spec.rotary_dim = config.count_or(kKey, spec.head_dim);
  if (!may_be_partial && spec.rotary_dim != spec.head_dim) {
    config.reject(kKey, Json(spec.rotary_dim),
                  fmt::format("heads have {} elements, and all must be rotated", spec.head_dim));
  }
  if (spec.rotary_dim > spec.head_dim) {
    config.reject(kKey, Json(spec.rotary_dim),
                  fmt::format("heads have only {} elements", spec.head_dim));
  }
}

// 1 where the file has none; 0 stands for none too.
double read_factor(ConfigReader& config) {
  const double old_factor = config.number_or("rope.scale_linear", 0.0);
  const double factor = config.number_or(kFactor, old_factor);
  if (factor < 0.0) config.reject(kFactor, Json(factor), "must be positive");
  return factor == 0.0 ? 1.0 : factor;
}

void read_yarn(ConfigReader& config, double factor, i64 original_context, ModelSpec& spec) {
  constexpr std::string_view kMix = "rope.scaling.yarn_ext_factor";
  constexpr std::string_view kFast = "rope.scaling.yarn_beta_fast";
  Yarn yarn{.factor = factor, .original_context = original_context};
  yarn.fast = config.number_or(kFast, yarn.fast);
  yarn.slow = config.number_or("rope.scaling.yarn_beta_slow", yarn.slow);
  if (!(yarn.slow > 0.0 && yarn.fast > yarn.slow))
    config.reject(kFast, Json(yarn.fast), "must be greater than yarn_beta_slow, and that above 0");
  // Below 0: not set.
  if (const double mix = config.number_or(kMix, 1.0); mix >= 0.0 && mix != 1.0)
    config.reject(kMix, Json(mix), "must be 1");
  const double weight_all = config.number_or("rope.scaling.yarn_log_multiplier", 0.0);
  const double usual = weight_all == 0.0
                           ? yarn_sharpening(factor, 1.0)
                           : yarn_sharpening(factor, 1.0) / yarn_sharpening(factor, weight_all);
  spec.rope.scale = config.number_or("rope.scaling.yarn_attn_factor", usual);
  spec.rope.divisors = yarn_divisors(yarn, spec.rotary_dim, spec.rope.theta);
}

std::vector<double> read_divisors(const Checkpoint& checkpoint,
                                  const TensorInfo& tensor,
                                  i64 n_pairs) {
  if (tensor.shape != std::vector<i64>{n_pairs}) {
    fail<FormatError>("{}: tensor {}: {} elements, but {}, one for each rotary pair, are expected",
                      checkpoint.path(), tensor.name, tensor.rows() * tensor.cols(), n_pairs);
  }
  std::vector<float> values(static_cast<std::size_t>(n_pairs));
  checkpoint.read_rows(tensor, 0, n_pairs, values);
  return {values.begin(), values.end()};
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty()) return b;
  std::vector<double> out;
  for (std::size_t i = 0; i < a.size(); ++i)
    out.push_back(a[i] * b[i]);
  return out;
}

// Llama 3's stretching is stored as its result, LongRoPE's factors as they are.
void read_stored_divisors(ConfigReader& config,
                          const Checkpoint& checkpoint,
                          i64 original_context,
                          ModelSpec& spec) {
  const auto* all = checkpoint.find(kGgufDivisors[0]);
  const auto* of_long = checkpoint.find(kGgufDivisors[1]);
  const auto* of_short = checkpoint.find(kGgufDivisors[2]);
  const i64 n_pairs = spec.rotary_dim / 2;
  Rope& rope = spec.rope;
  if ((of_long == nullptr) != (of_short == nullptr) || (all != nullptr && of_long != nullptr)) {
    fail<FormatError>(
        "{}: of the tensors {}, either the first or the other two are expected, or none",
        checkpoint.path(), fmt::join(kGgufDivisors, ", "));
  }
  if (all != nullptr)
    rope.divisors = product(rope.divisors, read_divisors(checkpoint, *all, n_pairs));
  if (of_long == nullptr) return;
  const std::vector<double> before = rope.divisors;
  rope.divisors = product(before, read_divisors(checkpoint, *of_short, n_pairs));
  rope.long_divisors = product(before, read_divisors(checkpoint, *of_long, n_pairs));
  rope.long_above = original_context;
  if (config.find(kSharpening) == nullptr) {
    rope.scale *= longrope_sharpening(
        static_cast<double>(spec.context) / static_cast<double>(original_context),
        original_context);
  }
}

}  // namespace

void read_gguf_rope(ConfigReader& config,
                    const Checkpoint& checkpoint,
                    ModelSpec& spec,
                    bool may_be_partial) {
  read_rotary_dim(config, spec, may_be_partial);
  spec.rope.theta = config.number_or("rope.freq_base", 10000.0);
  const i64 original_context =
      config.count_or("rope.scaling.original_context_length", spec.context);
  const double factor = read_factor(config);
  const std::string type = config.text_or(kType, "linear");  // of factor 1, where there is none
  if (type == "yarn") {
    read_yarn(config, factor, original_context, spec);
  } else if (type == "linear") {
    if (factor != 1.0)
      spec.rope.divisors.assign(static_cast<std::size_t>(spec.rotary_dim / 2), factor);
  } else if (type == "longrope") {
    if (checkpoint.find(kGgufDivisors[1]) == nullptr || factor != 1.0)
      config.reject(kType, Json(type), "its factors are expected as tensors, and no other factor");
  } else if (type != "none") {
    config.reject(kType, Json(type), "must be none, linear, yarn or longrope");
  }
  spec.rope.scale *= config.number_or(kSharpening, 1.0);
  read_stored_divisors(config, checkpoint, original_context, spec);
}

}  // namespace sticky::model
