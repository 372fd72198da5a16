// The whole forward pass against one in double that shares nothing with it.
#include <gtest/gtest.h>

#include "sticky/backend/make_backend.hpp"
#include "sticky/model/load_model.hpp"
#include "tests/model/oracle.hpp"
#include "tests/support/model_steps.hpp"

namespace sticky::test {
namespace {

const std::vector<i32> kTokens{3, 17, 39, 0, 8, 8, 21, 30, 5, 11, 2, 38, 19, 6, 27, 14, 33, 9, 1};

std::unique_ptr<model::LanguageModel> load(const checkpoint::Checkpoint& checkpoint) {
  return model::load_model(checkpoint,
                           backend::make_backend({.kind = "cpu", .dtype = "f32", .n_threads = 1}),
                           {.kv_tokens = 128, .max_batch_tokens = 32});
}

std::vector<float> last_logits(const checkpoint::Checkpoint& checkpoint) {
  const auto model = load(checkpoint);
  return ModelSteps(*model).step({{.sequence = 0, .tokens = kTokens}})[0];
}

TEST(Transformer, LogitsAreThoseOfTheFormulas) {
  const SmallLlama sizes;
  const auto checkpoint = small_llama(sizes);

  expect_near(last_logits(checkpoint), Oracle(checkpoint, sizes).logits(kTokens));
}

TEST(Transformer, BiasesAreAddedWhereTheConfigHasThem) {
  const SmallLlama sizes{.biases = true};
  const auto checkpoint = small_llama(sizes);

  expect_near(last_logits(checkpoint), Oracle(checkpoint, sizes).logits(kTokens));
}

TEST(Transformer, ATiedHeadIsTheEmbeddingEvenIfAnotherIsStored) {
  const SmallLlama sizes{.tied = true};
  auto checkpoint = small_llama(sizes);
  checkpoint.put("lm_head.weight", {1}, {1.0F});

  expect_near(last_logits(checkpoint), Oracle(checkpoint, sizes).logits(kTokens));
}

TEST(Transformer, LinearScalingTurnsPositionsSlower) {
  const SmallLlama sizes;
  auto checkpoint = small_llama(sizes);
  checkpoint.set("rope_scaling", Json::object({{"rope_type", "linear"}, {"factor", 4.0}}));
  const Oracle oracle(checkpoint, sizes, {.divisors = {4.0, 4.0, 4.0, 4.0}});

  expect_near(last_logits(checkpoint), oracle.logits(kTokens));
}

TEST(Transformer, LogitsComeForTheRowsAskedForAndInTheirOrder) {
  const auto checkpoint = small_llama();
  const auto model = load(checkpoint);
  const auto all =
      ModelSteps(*model).step({{.sequence = 0, .tokens = kTokens, .logits_of_all = true}});
  std::vector<i32> pages{5, 2};
  std::vector<float> logits(3 * 40);

  const model::StepBatch batch{
      .tokens = kTokens, .sequences = {{0, 19, 0, pages}}, .logit_rows = {2, 3, 17}};
  model->forward(batch, {logits.data(), 3, 40, 40});

  for (const auto& [row, i] : {std::pair(2, 0), std::pair(3, 1), std::pair(17, 2)}) {
    EXPECT_EQ(std::vector<float>(logits.begin() + 40 * i, logits.begin() + 40 * (i + 1)),
              all[static_cast<std::size_t>(row)]);
  }
}

// gguf.md: the rows of q and k stand as rotary pairs, 2i and 2i + 1 of a head being i and i + d/2.
MemoryCheckpoint as_gguf(const MemoryCheckpoint& hf, const SmallLlama& s) {
  MemoryCheckpoint out(true);
  out.set("general.architecture", "llama");
  out.set("llama.block_count", s.n_layers);
  out.set("llama.embedding_length", s.d_model);
  out.set("llama.feed_forward_length", s.d_ff);
  out.set("llama.attention.head_count", s.n_heads);
  out.set("llama.attention.head_count_kv", s.n_kv_heads);
  out.set("llama.attention.key_length", s.head_dim);
  out.set("llama.attention.value_length", s.head_dim);
  out.set("llama.context_length", s.context);
  out.set("llama.attention.layer_norm_rms_epsilon", 0.01);
  out.set("llama.rope.freq_base", 100.0);
  const std::vector<std::pair<std::string, std::string>> names{
      {"model.embed_tokens.", "token_embd."},
      {"model.norm.", "output_norm."},
      {"lm_head.", "output."},
      {"model.layers.", "blk."},
      {"input_layernorm.", "attn_norm."},
      {"post_attention_layernorm.", "ffn_norm."},
      {"self_attn.q_proj.", "attn_q."},
      {"self_attn.k_proj.", "attn_k."},
      {"self_attn.v_proj.", "attn_v."},
      {"self_attn.o_proj.", "attn_output."},
      {"mlp.gate_proj.", "ffn_gate."},
      {"mlp.up_proj.", "ffn_up."},
      {"mlp.down_proj.", "ffn_down."}};
  for (const auto& tensor : hf.tensors()) {
    std::string name = tensor.name;
    for (const auto& [from, to] : names) {
      if (const auto at = name.find(from); at != std::string::npos)
        name.replace(at, from.size(), to);
    }
    std::vector<float> values = hf.values(tensor.name);
    if (name.find("attn_q.") != std::string::npos || name.find("attn_k.") != std::string::npos) {
      const auto old = values;
      for (i64 row = 0; row < tensor.rows(); ++row) {
        const i64 in_head = row % s.head_dim;
        const i64 half = in_head < s.head_dim / 2 ? 0 : 1;
        const i64 target = row - in_head + 2 * (in_head - half * s.head_dim / 2) + half;
        std::copy_n(old.begin() + row * tensor.cols(), tensor.cols(),
                    values.begin() + target * tensor.cols());
      }
    }
    out.put(name, tensor.shape, std::move(values));
  }
  return out;
}

TEST(Transformer, AGgufFileOfTheSameModelGivesTheSameBits) {
  const SmallLlama sizes{.biases = true};
  const auto folder = small_llama(sizes);

  EXPECT_EQ(last_logits(as_gguf(folder, sizes)), last_logits(folder));
}

// What llama.cpp's conversion does when asked to: rows of q, k and v below each other.
TEST(Transformer, AGgufFileWithFusedQkvGivesTheSameBits) {
  const SmallLlama sizes{.biases = true};
  const auto folder = small_llama(sizes);
  auto file = as_gguf(folder, sizes);
  const i64 rows = (sizes.n_heads + 2 * sizes.n_kv_heads) * sizes.head_dim;
  for (i64 layer = 0; layer < sizes.n_layers; ++layer) {
    for (const std::string kind : {"weight", "bias"}) {
      const std::string start = "blk." + std::to_string(layer) + ".attn_";
      std::vector<float> all;
      for (const std::string name : {"q", "k", "v"}) {
        const auto part = file.values(start + name + "." + kind);
        all.insert(all.end(), part.begin(), part.end());
        file.remove(start + name + "." + kind);
      }
      const bool is_bias = kind == "bias";
      file.put(start + "qkv." + kind,
               is_bias ? std::vector<i64>{rows} : std::vector<i64>{rows, sizes.d_model}, all);
    }
  }

  EXPECT_EQ(last_logits(file), last_logits(folder));
}

TEST(Transformer, DivisorsStoredInAGgufFileSlowEachPair) {
  const SmallLlama sizes;
  auto folder = small_llama(sizes);
  auto file = as_gguf(folder, sizes);
  file.put("rope_freqs.weight", {4}, {4.0F, 4.0F, 4.0F, 4.0F});
  folder.set("rope_scaling", Json::object({{"type", "linear"}, {"factor", 4}}));

  EXPECT_EQ(last_logits(file), last_logits(folder));
}

TEST(Transformer, LoadingTellsHowFarItIs) {
  const auto checkpoint = small_llama();
  i64 n_bytes = 0;
  for (const auto& tensor : checkpoint.tensors())
    n_bytes += tensor.size_bytes;
  std::vector<i64> done;

  (void)model::load_model(checkpoint, backend::make_backend({.kind = "cpu"}), {.kv_tokens = 64},
                          [&](i64 now, i64 total) {
                            EXPECT_EQ(total, n_bytes);
                            done.push_back(now);
                          });

  EXPECT_TRUE(std::ranges::is_sorted(done));
  EXPECT_EQ(done.back(), n_bytes);
}

}  // namespace
}  // namespace sticky::test
