// The real SmolLM2-135M-Instruct against what transformers computes in fp32 (tests/data/README.md).
// STICKY_SMOLLM2 names the folder that tests/prepare_model.sh made: smollm2.gguf and hf/.
#include <cstdlib>

#include <gtest/gtest.h>

#include "sticky/backend/make_backend.hpp"
#include "tests/conformance/real_model.hpp"
#include "tests/support/files.hpp"

namespace sticky::test {
namespace {

const std::string kGolden = STICKY_TEST_DATA "/smollm2/golden";

class SmolLm2 : public testing::Test {
 protected:
  static std::unique_ptr<checkpoint::Checkpoint> open(const std::string& name) {
    const char* folder = std::getenv("STICKY_SMOLLM2");
    if (folder == nullptr) {
      fail<ConfigError>(
          "STICKY_SMOLLM2 must name the folder of the real weights; make it by "
          "tests/prepare_model.sh FOLDER");
    }
    return checkpoint::open_checkpoint(std::string(folder) + "/" + name);
  }
  static std::unique_ptr<model::LanguageModel> load(const checkpoint::Checkpoint& checkpoint) {
    return model::load_model(checkpoint, backend::make_backend({.kind = "cpu", .dtype = "f32"}),
                             {.context = 2048, .kv_tokens = 4096, .max_batch_tokens = 2048});
  }
  const Json golden_ = Json::parse(read_xz(kGolden + ".json.xz"));
  const GoldenTensors tensors_{read_xz(kGolden + ".safetensors.xz")};
};

// The smallest margin of all rows is 0.0018, so every id must be equal. transformers' two ways of
// attention differ by 4e-5 in logits that reach 33; 2e-3 is what the reference asks for.
TEST_F(SmolLm2, AllRecordedAnswersAreEqualTokenForToken) {
  const auto model = load(*open("hf"));
  const Json::Array& rows = golden_.find("rows")->as_array();
  ASSERT_EQ(rows.size(), 29U);

  const GreedyAnswers greedy(*model, rows);

  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(greedy.answers_[i].ids, ids_of(*rows[i].find("new_ids"))) << "row " << i;
    const auto& logprobs = rows[i].find("logprobs")->as_array();
    for (std::size_t step = 0; step < logprobs.size(); ++step)
      ASSERT_NEAR(greedy.answers_[i].logprobs[step], logprobs[step].as_double(), 1e-3)
          << "row " << i << " step " << step;
    const auto kept = tensors_.floats("prompt_last_logits." + std::to_string(i));
    ASSERT_EQ(kept.size(), 49152U / 8);
    for (std::size_t k = 0; k < kept.size(); ++k)
      ASSERT_NEAR(greedy.prompt_logits_[i][8 * k], kept[k], 2e-3) << "row " << i << " id " << 8 * k;
  }
}

TEST_F(SmolLm2, EveryTokenOfALongTextHasTheRecordedLogprob) {
  const auto model = load(*open("hf"));
  ModelSteps steps(*model);
  const auto ids = ids_of(*golden_.find("score")->find("ids"));
  const auto expected = tensors_.floats("score.logprobs");
  ASSERT_EQ(expected.size() + 1, ids.size());

  constexpr i64 kChunk = 128;
  for (i64 at = 0; at < static_cast<i64>(expected.size()); at += kChunk) {
    const i64 n = std::min(kChunk, static_cast<i64>(expected.size()) - at);
    const auto logits = steps.step({{.sequence = 0,
                                     .tokens = {ids.begin() + at, ids.begin() + at + n},
                                     .logits_of_all = true}});
    for (i64 i = 0; i < n; ++i) {
      const auto next = static_cast<std::size_t>(at + i + 1);
      ASSERT_NEAR(logprob(logits[static_cast<std::size_t>(i)], ids[next]), expected[next - 1], 1e-3)
          << "token " << next;
    }
  }
}

// The folder was made of the file by a program that shares nothing with ours: dequantised, rows of
// rotary pairs put in place, rounded to bf16. So the file, rounded, must give the same bits.
TEST_F(SmolLm2, TheGgufFileRoundedToBf16GivesTheBitsOfTheFolder) {
  const auto prompt = ids_of(*golden_.find("rows")->as_array()[0].find("prompt_ids"));
  const auto file = open("smollm2.gguf");

  const auto of_file = load(RoundedCheckpoint(*file));
  const auto from_file = ModelSteps(*of_file).step({{.sequence = 0, .tokens = prompt}});
  const auto of_folder = load(*open("hf"));
  const auto from_folder = ModelSteps(*of_folder).step({{.sequence = 0, .tokens = prompt}});

  EXPECT_EQ(from_file, from_folder);
}

}  // namespace
}  // namespace sticky::test
