#include "hf_rope.hpp"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "rope_scaling.hpp"

namespace sticky::model {

namespace {

double wavelength(const Rope& rope, i64 rotary_dim, i64 pair) {
  const double exponent = 2.0 * static_cast<double>(pair) / static_cast<double>(rotary_dim);
  return 2.0 * std::numbers::pi * std::pow(rope.theta, exponent);
}

void read_linear(ConfigReader& keys, const ModelSpec& spec, Rope& rope) {
  rope.divisors.assign(static_cast<std::size_t>(spec.rotary_dim / 2), keys.number("factor"));
}

// Llama 3.1: pairs whose wavelength is long against the original context turn `factor` times
// slower, short ones as before, and between the two bounds the frequency (not the divisor) is
// interpolated.
void read_llama3(ConfigReader& keys, const ModelSpec& spec, Rope& rope) {
  const double factor = keys.number("factor");
  const double low = keys.number("low_freq_factor");
  const double high = keys.number("high_freq_factor");
  const auto original = static_cast<double>(keys.count("original_max_position_embeddings"));
  if (!(high > low))
    keys.reject("high_freq_factor", Json(high), "must be greater than low_freq_factor");
  for (i64 i = 0; i < spec.rotary_dim / 2; ++i) {
    const double length = wavelength(rope, spec.rotary_dim, i);
    if (length > original / low) {
      rope.divisors.push_back(factor);
    } else if (length < original / high) {
      rope.divisors.push_back(1.0);
    } else {
      const double smooth = (original / length - low) / (high - low);
      rope.divisors.push_back(1.0 / ((1.0 - smooth) / factor + smooth));
    }
  }
}

double yarn_scale(ConfigReader& keys, double factor) {
  const double weight = keys.number_or("mscale", 0.0);
  const double weight_all = keys.number_or("mscale_all_dim", 0.0);
  const double usual = weight != 0.0 && weight_all != 0.0
                           ? yarn_sharpening(factor, weight) / yarn_sharpening(factor, weight_all)
                           : yarn_sharpening(factor, 1.0);
  return keys.number_or("attention_factor", usual);
}

void read_yarn(ConfigReader& keys, const ModelSpec& spec, i64 original_context, Rope& rope) {
  Yarn yarn;
  yarn.original_context = keys.count_or("original_max_position_embeddings", original_context);
  yarn.factor = keys.number("factor");
  yarn.fast = keys.number_or("beta_fast", yarn.fast);
  yarn.slow = keys.number_or("beta_slow", yarn.slow);
  yarn.truncate = keys.flag_or("truncate", true);
  if (!(yarn.slow > 0.0 && yarn.fast > yarn.slow))
    keys.reject("beta_fast", Json(yarn.fast), "must be greater than beta_slow, and that above 0");
  rope.scale = yarn_scale(keys, yarn.factor);
  rope.divisors = yarn_divisors(yarn, spec.rotary_dim, rope.theta);
}

// LongRoPE (Ding et al. 2024): divisors found by search, for short and for long contexts.
void read_longrope(ConfigReader& keys, const ModelSpec& spec, i64 original_context, Rope& rope) {
  const i64 original = keys.count_or("original_max_position_embeddings", original_context);
  const double factor =
      keys.number_or("factor", static_cast<double>(spec.context) / static_cast<double>(original));
  const double usual = longrope_sharpening(factor, original);
  rope.scale = keys.number_or("attention_factor", usual);
  rope.divisors = keys.positive_numbers("short_factor", spec.rotary_dim / 2);
  rope.long_divisors = keys.positive_numbers("long_factor", spec.rotary_dim / 2);
  rope.long_above = original;
}

// Takes away the fraction that stays unrotated.
void read_partial(ConfigReader& config, ConfigReader* v5, ModelSpec& spec, const RopeKeys& keys) {
  constexpr std::string_view kNested = "partial_rotary_factor";
  double part = config.number_or(keys.partial, keys.default_partial);
  ConfigReader* named_in = &config;
  std::string_view key = keys.partial;
  if (v5 != nullptr && v5->find(kNested) != nullptr) {
    part = v5->number(kNested);
    named_in = v5;
    key = kNested;
  }
  if (!keys.may_be_partial && part != 1.0) named_in->reject(key, Json(part), "must be 1");
  if (!(part > 0.0 && part <= 1.0))
    named_in->reject(key, Json(part), "must be above 0 and at most 1");
  spec.rotary_dim = static_cast<i64>(static_cast<double>(spec.head_dim) * part);
}

}  // namespace

Rope read_rope_object(ConfigReader& keys,
                      const ModelSpec& spec,
                      double theta,
                      i64 original_context) {
  if (original_context == 0) original_context = spec.context;
  Rope rope;
  rope.theta = keys.number_or("rope_theta", theta);
  const std::string old_type = keys.text_or("type", "default");
  const std::string type = keys.text_or("rope_type", old_type);
  if (type == "linear") {
    read_linear(keys, spec, rope);
  } else if (type == "llama3") {
    read_llama3(keys, spec, rope);
  } else if (type == "yarn") {
    read_yarn(keys, spec, original_context, rope);
  } else if (type == "longrope" || type == "su") {  // its name in the first Phi-3 models
    read_longrope(keys, spec, original_context, rope);
  } else if (type != "default") {
    keys.reject("rope_type", Json(type), "must be default, linear, llama3, yarn or longrope");
  }
  keys.refuse_all_unread();
  return rope;
}

void read_hf_rope(ConfigReader& config, ModelSpec& spec, const RopeKeys& keys) {
  const Json* v5 = config.find("rope_parameters");
  const Json* v4 = config.find("rope_scaling");
  if (v4 != nullptr && v5 != nullptr)
    config.reject("rope_scaling", *v4, "must not stand beside rope_parameters");
  const std::string key = v5 != nullptr ? "rope_parameters" : "rope_scaling";
  const Json* object = v5 != nullptr ? v5 : v4;
  const Json none = Json::object();
  ConfigReader rope(object != nullptr ? *object : none, config.where() + ": " + key);
  read_partial(config, &rope, spec, keys);
  const double theta = config.number_or(keys.theta, keys.default_theta);
  const i64 original = config.count_or("original_max_position_embeddings", spec.context);
  spec.rope = read_rope_object(rope, spec, theta, original);
}

}  // namespace sticky::model
