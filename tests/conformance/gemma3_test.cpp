// The real Gemma 3 270M, a base model, in a GGUF file of mixed formats (Q4_K, Q5_0, Q6_K, Q8_0),
// against what transformers computes in fp32 of the same weights rounded to bf16
// (tests/data/README.md). Only by hand, for its terms of use are Google's: STICKY_GEMMA3 names the
// file. See docs/models.md.
#include <cstdlib>

#include <gtest/gtest.h>

#include "sticky/backend/make_backend.hpp"
#include "sticky/tokenizer/tokenizer.hpp"
#include "tests/conformance/real_model.hpp"
#include "tests/support/files.hpp"

namespace sticky::test {
namespace {

class Gemma3 : public testing::Test {
 protected:
  void SetUp() override {
    const char* path = std::getenv("STICKY_GEMMA3");
    if (path == nullptr) GTEST_SKIP() << "STICKY_GEMMA3 names no gemma-3-270m-q4_k_m.gguf";
    file_ = checkpoint::open_checkpoint(path);
  }
  static std::unique_ptr<model::LanguageModel> load(const checkpoint::Checkpoint& checkpoint) {
    return model::load_model(checkpoint, backend::make_backend({.kind = "cpu", .dtype = "f32"}),
                             {.context = 512, .kv_tokens = 1024});
  }
  [[nodiscard]] const Json::Array& rows() const { return golden_.find("rows")->as_array(); }

  const Json golden_ = Json::parse(read_xz(STICKY_TEST_DATA "/gemma3/golden.json.xz"));
  std::unique_ptr<checkpoint::Checkpoint> file_;
};

// The smallest margin is 0.006. Norms were not rounded: less the 1 that is added to them in GGUF,
// they are bf16 numbers already.
TEST_F(Gemma3, RoundedToBf16AllRecordedAnswersAreEqualTokenForToken) {
  ASSERT_EQ(rows().size(), 10U);

  const GreedyAnswers greedy(*load(RoundedCheckpoint(*file_, true)), rows());

  for (std::size_t i = 0; i < rows().size(); ++i) {
    EXPECT_EQ(greedy.answers_[i].ids, ids_of(*rows()[i].find("new_ids"))) << "row " << i;
    const auto& logprobs = rows()[i].find("logprobs")->as_array();
    for (std::size_t step = 0; step < logprobs.size(); ++step)
      EXPECT_NEAR(greedy.answers_[i].logprobs[step], logprobs[step].as_double(), 1e-3)
          << "row " << i << " step " << step;
  }
}

// Rounding moves logprobs by some hundredths, so an answer may leave the recorded one only where
// two tokens are as close as that.
TEST_F(Gemma3, UnroundedItsAnswersAreTheRecordedOnesWhileTheMarginIsClear) {
  const GreedyAnswers greedy(*load(*file_), rows());

  for (std::size_t i = 0; i < rows().size(); ++i) {
    const auto expected = ids_of(*rows()[i].find("new_ids"));
    for (std::size_t step = 0; step < expected.size(); ++step) {
      const auto of_step = [&](const char* list) {
        return rows()[i].find(list)->as_array()[step].as_double();
      };
      if (greedy.answers_[i].ids[step] != expected[step]) {
        EXPECT_LT(of_step("margins"), 0.05) << "row " << i << " step " << step;
        break;
      }
      EXPECT_NEAR(greedy.answers_[i].logprobs[step], of_step("logprobs"), 0.05)
          << "row " << i << " step " << step;
    }
  }
}

TEST_F(Gemma3, TextBecomesTheRecordedIdsAndBack) {
  const auto text = tokenizer::load_from_gguf(file_->config(), file_->path());
  for (const Json& row : rows()) {
    EXPECT_EQ(text.tokenizer->encode(row.find("prompt")->as_string(), {.add_special_tokens = true}),
              ids_of(*row.find("prompt_ids")));
    EXPECT_EQ(text.tokenizer->decode(ids_of(*row.find("new_ids")), true),
              row.find("text")->as_string());
  }

  const auto read = [](const std::string& name) {
    return Json::parse(read_xz(STICKY_TEST_DATA "/tokenizer/" + name + ".json.xz"));
  };
  const Json strings = read("strings.shared");
  const Json reference = read("gemma3.shared");
  for (const Json& c : reference.find("cases")->as_array()) {
    const auto n = static_cast<std::size_t>(c.find("n")->as_integer());
    const std::string& string = strings.as_array().at(n).find("text")->as_string();
    const auto ids = ids_of(*c.find("ids"));
    EXPECT_EQ(text.tokenizer->encode(string, {}), ids) << n << ": " << string.substr(0, 200);
    const Json* decoded = c.find("decoded");
    EXPECT_EQ(text.tokenizer->decode(ids, false),
              decoded == nullptr ? string : decoded->as_string())
        << n;
  }
}

}  // namespace
}  // namespace sticky::test
