// Gemma 3, the text model: Gemma 2 with normed heads of q and k in the place of capped scores, and
// other rotary positions in layers with a window.
// Judge of every key: Gemma3TextConfig and modeling_gemma3.py of transformers 4 and 5.
#include <string>

#include "families.hpp"
#include "gemma.hpp"
#include "gguf_config.hpp"
#include "hf_rope.hpp"
#include "tensor_names.hpp"

namespace sticky::model {

namespace {

using checkpoint::Checkpoint;

constexpr std::string_view kName = "gemma3";

constexpr double kTheta = 1e6;
constexpr double kWindowTheta = 10000.0;

// transformers 5 has one object for each type of layer; in transformers 4, rope_scaling was of
// layers without a window.
void read_ropes(ConfigReader& config, ModelSpec& spec) {
  const Json* v5 = config.find("rope_parameters");
  if (v5 == nullptr || v5->find("full_attention") == nullptr) {
    read_hf_rope(config, spec, {.default_theta = kTheta});
    spec.window_rope = Rope{.theta = config.number_or("rope_local_base_freq", kWindowTheta)};
    return;
  }
  ConfigReader types(*v5, config.where() + ": rope_parameters");
  const auto rope_of = [&](std::string_view type, double theta) {
    const Json* object = types.find(type);
    const Json none = Json::object();
    ConfigReader rope(object == nullptr ? none : *object, types.where() + ": " + std::string(type));
    return read_rope_object(rope, spec, theta, spec.context);
  };
  spec.rope = rope_of("full_attention", kTheta);
  spec.window_rope = rope_of("sliding_attention", kWindowTheta);
  types.refuse_all_unread();
  config.accept_any({"rope_theta", "rope_local_base_freq"});
}

ModelSpec read_hf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path() + "/config.json");
  ModelSpec spec = read_gemma(config, checkpoint, kName);
  spec.qk_norm = QkNorm::head;
  read_ropes(config, spec);
  // attn_logit_softcapping stands in the config, but transformers does not use it here: null only.
  spec.logit_softcap = static_cast<float>(config.number_or("final_logit_softcapping", 0.0));
  const i64 window = config.count_unless_null("sliding_window", 4096).value_or(0);
  // Its name in transformers 4 and in transformers 5, where layer_types says the same.
  const i64 every =
      config.count_or("sliding_window_pattern", config.count_or("_sliding_window_pattern", 6));
  spec.windows = read_windows(config, spec.n_layers, window,
                              [&](i64 layer) { return (layer + 1) % every != 0; });
  refuse_other_mathematics(config);
  return spec;
}

ModelSpec read_gguf(const Checkpoint& checkpoint) {
  ConfigReader config(checkpoint.config(), checkpoint.path(), "gemma3.");
  ModelSpec spec = read_gguf_gemma(config, checkpoint, kName, 62);
  spec.qk_norm = QkNorm::head;
  read_gguf_rope(config, checkpoint, spec);  // of layers without a window
  spec.window_rope = Rope{.theta = config.number_or("rope.freq_base_swa", kWindowTheta)};
  spec.logit_softcap = static_cast<float>(config.number_or("final_logit_softcapping", 0.0));
  spec.windows = read_gguf_windows(config, spec.n_layers, read_gguf_window(config, 0), 6);
  refuse_unread_gguf(config);
  return spec;
}

TensorTable make_table(const ModelSpec& spec, const Checkpoint& checkpoint) {
  return make_tensor_table(spec, checkpoint, {.names = kPostNormTensors});
}

}  // namespace

const Family& gemma3() {
  static constexpr Family kGemma3{.name = kName,
                                  .hf_architecture = "Gemma3ForCausalLM",
                                  .gguf_architecture = "gemma3",
                                  .read_hf = read_hf,
                                  .read_gguf = read_gguf,
                                  .tensor_table = make_table};
  return kGemma3;
}

}  // namespace sticky::model
