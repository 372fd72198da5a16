// What the recorded models of families_test.cpp do not show, against the formulas in double.
#include <gtest/gtest.h>

#include "sticky/backend/make_backend.hpp"
#include "sticky/model/load_model.hpp"
#include "tests/model/oracle.hpp"
#include "tests/support/model_steps.hpp"

namespace sticky::test {
namespace {

const std::vector<i32> kTokens{3, 17, 39, 0, 8, 8, 21, 30, 5, 11, 2, 38, 19, 6, 27, 14, 33, 9, 1};

std::vector<float> last_logits(const checkpoint::Checkpoint& checkpoint, i64 context = 0) {
  const auto model =
      model::load_model(checkpoint, backend::make_backend({.kind = "cpu", .n_threads = 1}),
                        {.context = context, .kv_tokens = 128, .max_batch_tokens = 32});
  return ModelSteps(*model).step({{.sequence = 0, .tokens = kTokens}})[0];
}

void put_random(MemoryCheckpoint& checkpoint, const std::string& name, i64 n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& v : values)
    v = static_cast<float>(random() >> 8) * 0x1p-23F - 1.0F;
  checkpoint.put(name, {n}, std::move(values));
}

std::string start_of(i64 layer) {
  return "model.layers." + std::to_string(layer) + ".";
}

void put_qkv_biases(MemoryCheckpoint& checkpoint, const SmallLlama& s) {
  for (i64 layer = 0; layer < s.n_layers; ++layer) {
    const std::string start = start_of(layer) + "self_attn.";
    put_random(checkpoint, start + "q_proj.bias", s.n_heads * s.head_dim, 11);
    put_random(checkpoint, start + "k_proj.bias", s.n_kv_heads * s.head_dim, 12);
    put_random(checkpoint, start + "v_proj.bias", s.n_kv_heads * s.head_dim, 13);
  }
}

MemoryCheckpoint small_qwen2(const SmallLlama& s) {
  auto out = small_llama(s);
  out.set("architectures", Json::array({"Qwen2ForCausalLM"}));
  out.set("attention_bias", Json());
  out.set("mlp_bias", Json());
  put_qkv_biases(out, s);
  return out;
}

TEST(Variants, QwensWindowIsInLateLayersAndOnlyWhereItIsUsed) {
  const SmallLlama sizes{.n_layers = 3};
  auto checkpoint = small_qwen2(sizes);
  checkpoint.set("sliding_window", 5);
  checkpoint.set("max_window_layers", 1);
  const auto whole = Oracle(checkpoint, sizes).logits(kTokens);
  const auto windowed = Oracle(checkpoint, sizes, {.windows = {0, 5, 5}}).logits(kTokens);

  expect_near(last_logits(checkpoint), whole);
  checkpoint.set("use_sliding_window", true);
  expect_near(last_logits(checkpoint), windowed);
  checkpoint.set("layer_types",
                 Json::array({"sliding_attention", "full_attention", "full_attention"}));
  expect_near(last_logits(checkpoint),
              Oracle(checkpoint, sizes, {.windows = {5, 0, 0}}).logits(kTokens));
}

MemoryCheckpoint small_stablelm(const SmallLlama& s) {
  auto out = small_llama(s);
  out.set("architectures", Json::array({"StableLmForCausalLM"}));
  out.set("attention_bias", Json());
  out.set("mlp_bias", Json());
  out.set("rms_norm_eps", Json());
  out.set("layer_norm_eps", 0.01);
  out.set("partial_rotary_factor", 0.5);
  put_random(out, "model.norm.bias", s.d_model, 3);
  for (i64 layer = 0; layer < s.n_layers; ++layer) {
    put_random(out, start_of(layer) + "input_layernorm.bias", s.d_model, 4);
    put_random(out, start_of(layer) + "post_attention_layernorm.bias", s.d_model, 5);
  }
  return out;
}

TEST(Variants, StableLmOf12BNormsEachHeadAndRunsItsMlpBesideAttention) {
  const SmallLlama sizes;
  auto checkpoint = small_stablelm(sizes);
  checkpoint.set("qk_layernorm", true);
  checkpoint.set("use_parallel_residual", true);
  for (i64 layer = 0; layer < sizes.n_layers; ++layer) {
    const std::string start = start_of(layer) + "self_attn.";
    for (unsigned head = 0; head < 6; ++head)
      put_random(checkpoint, start + "q_layernorm.norms." + std::to_string(head) + ".weight", 8,
                 20 + head);
    for (unsigned head = 0; head < 3; ++head)
      put_random(checkpoint, start + "k_layernorm.norms." + std::to_string(head) + ".weight", 8,
                 30 + head);
    checkpoint.remove(start_of(layer) + "post_attention_layernorm.weight");
    checkpoint.remove(start_of(layer) + "post_attention_layernorm.bias");
  }

  expect_near(last_logits(checkpoint),
              Oracle(checkpoint, sizes,
                     {.layer_norms = true, .head_norms = true, .parallel = true, .rotary_dim = 4})
                  .logits(kTokens));
}

TEST(Variants, StableLmWithoutBiasesOfQkv) {
  const SmallLlama sizes;
  const auto checkpoint = small_stablelm(sizes);

  expect_near(last_logits(checkpoint),
              Oracle(checkpoint, sizes, {.layer_norms = true, .rotary_dim = 4}).logits(kTokens));
}

// Rows of several tensors one below the other, as one.
void fuse(MemoryCheckpoint& out, const std::vector<std::string>& parts, const std::string& whole) {
  std::vector<float> values;
  std::vector<i64> shape = out.find(parts[0])->shape;
  shape[0] = 0;
  for (const auto& part : parts) {
    shape[0] += out.find(part)->shape[0];
    values.insert(values.end(), out.values(part).begin(), out.values(part).end());
    out.remove(part);
  }
  out.put(whole, shape, std::move(values));
}

MemoryCheckpoint as_phi3(MemoryCheckpoint out, const SmallLlama& s) {
  out.set("architectures", Json::array({"Phi3ForCausalLM"}));
  for (i64 layer = 0; layer < s.n_layers; ++layer) {
    const std::string attention = start_of(layer) + "self_attn.";
    const std::string mlp = start_of(layer) + "mlp.";
    fuse(out,
         {attention + "q_proj.weight", attention + "k_proj.weight", attention + "v_proj.weight"},
         attention + "qkv_proj.weight");
    fuse(out, {mlp + "gate_proj.weight", mlp + "up_proj.weight"}, mlp + "gate_up_proj.weight");
  }
  return out;
}

// The original context is 32 of 64: scale sqrt(1 + ln 2 / ln 32) = sqrt(1.2).
TEST(Variants, LongRopeTakesItsFactorsByTheContextAskedFor) {
  const SmallLlama sizes{.tied = true};
  const auto llama = small_llama(sizes);
  auto checkpoint = as_phi3(llama, sizes);
  checkpoint.set("partial_rotary_factor", 0.5);
  checkpoint.set("original_max_position_embeddings", 32);
  checkpoint.set("rope_scaling", Json::object({{"type", "longrope"},
                                               {"short_factor", Json::array({1.5, 3.0})},
                                               {"long_factor", Json::array({2, 8.0})}}));
  const auto expected = [&](std::vector<double> divisors) {
    return Oracle(llama, sizes,
                  {.rotary_dim = 4, .divisors = std::move(divisors), .rope_scale = std::sqrt(1.2)})
        .logits(kTokens);
  };

  expect_near(last_logits(checkpoint, 32), expected({1.5, 3.0}));
  expect_near(last_logits(checkpoint, 33), expected({2.0, 8.0}));
  expect_near(last_logits(checkpoint), expected({2.0, 8.0}));
}

// q, k and v of each head beside each other, under GPT-NeoX's names.
MemoryCheckpoint as_gpt_neox(const MemoryCheckpoint& llama, const SmallLlama& s) {
  MemoryCheckpoint out;
  for (const char* key : {"num_hidden_layers", "hidden_size", "intermediate_size", "vocab_size",
                          "num_attention_heads", "head_dim", "max_position_embeddings"})
    out.set(key, *llama.config().find(key));
  out.set("architectures", Json::array({"GPTNeoXForCausalLM"}));
  out.set("layer_norm_eps", 0.01);
  out.set("rotary_emb_base", 100);
  out.set("rotary_pct", 0.25);
  out.set("use_parallel_residual", false);
  const std::vector<std::pair<std::string, std::string>> names{
      {"model.embed_tokens.", "gpt_neox.embed_in."},
      {"model.norm.", "gpt_neox.final_layer_norm."},
      {"lm_head.", "embed_out."},
      {"model.layers.", "gpt_neox.layers."},
      {"self_attn.o_proj.", "attention.dense."},
      {"mlp.up_proj.", "mlp.dense_h_to_4h."},
      {"mlp.down_proj.", "mlp.dense_4h_to_h."}};
  for (const auto& tensor : llama.tensors()) {
    std::string name = tensor.name;
    if (name.find("gate_proj") != std::string::npos || name.find("q_proj") != std::string::npos ||
        name.find("k_proj") != std::string::npos || name.find("v_proj") != std::string::npos)
      continue;
    for (const auto& [from, to] : names) {
      if (const auto at = name.find(from); at != std::string::npos)
        name.replace(at, from.size(), to);
    }
    out.put(name, tensor.shape, llama.values(tensor.name));
  }
  for (i64 layer = 0; layer < s.n_layers; ++layer) {
    for (const std::string kind : {"weight", "bias"}) {
      const i64 head_size = s.head_dim * (kind == "weight" ? s.d_model : 1);
      std::vector<float> values;
      for (i64 head = 0; head < s.n_heads; ++head) {
        for (const char* part : {"q", "k", "v"}) {
          const auto& from = llama.values(start_of(layer) + "self_attn." + part + "_proj." + kind);
          values.insert(values.end(), from.begin() + head * head_size,
                        from.begin() + (head + 1) * head_size);
        }
      }
      const i64 rows = 3 * s.n_heads * s.head_dim;
      out.put("gpt_neox.layers." + std::to_string(layer) + ".attention.query_key_value." + kind,
              kind == "weight" ? std::vector<i64>{rows, s.d_model} : std::vector<i64>{rows},
              std::move(values));
    }
  }
  return out;
}

TEST(Variants, GptNeoXMayRunItsMlpBehindAttention) {
  const SmallLlama sizes{.n_kv_heads = 6, .biases = true};
  auto llama = small_llama(sizes);
  put_random(llama, "model.norm.bias", sizes.d_model, 3);
  for (i64 layer = 0; layer < sizes.n_layers; ++layer) {
    put_random(llama, start_of(layer) + "input_layernorm.bias", sizes.d_model, 4);
    put_random(llama, start_of(layer) + "post_attention_layernorm.bias", sizes.d_model, 5);
  }

  expect_near(last_logits(as_gpt_neox(llama, sizes)),
              Oracle(llama, sizes, {.layer_norms = true, .plain_mlp = true, .rotary_dim = 2})
                  .logits(kTokens));
}

TEST(Variants, AFolderMayLeaveTheRootOfItsNamesOut) {
  const auto with_root = small_llama();
  auto without = with_root;
  for (const auto& tensor : with_root.tensors()) {
    if (!tensor.name.starts_with("model.")) continue;
    without.put(tensor.name.substr(6), tensor.shape, with_root.values(tensor.name));
    without.remove(tensor.name);
  }

  EXPECT_EQ(last_logits(without), last_logits(with_root));
}

}  // namespace
}  // namespace sticky::test
