#include "sticky/worker/intake.hpp"

#include <gtest/gtest.h>

namespace sticky::worker {
namespace {

class IntakeTest : public testing::Test {
 protected:
  IntakeTest() { options_.state.model = "models/tiny-llama/"; }

  std::string code_of(std::string_view line) {
    const auto verdict = Intake(prompts_, options_, {.vocab = 1024, .context = 8}).accept(line);
    const auto* rejected = std::get_if<Rejected>(&verdict);
    return rejected != nullptr ? rejected->error.code + " " + rejected->error.param : "accepted";
  }

  tokenizer::TextFiles files_ =
      tokenizer::load_from_folder(STICKY_TEST_DATA "/models/tiny-llama-smollm2");
  PromptMaker prompts_{files_, {}};
  Options options_;
};

TEST_F(IntakeTest, TakesWhatFitsAndNothingLonger) {
  EXPECT_EQ(code_of(R"({"prompt":[1,2,3,4,5,6,7]})"), "accepted");
  EXPECT_EQ(code_of(R"({"prompt":[1,2,3,4,5,6,7,8]})"), "context_length_exceeded prompt");
  EXPECT_EQ(code_of(R"({"prompt":[1,2,3,4,5,6,7],"max_tokens":100})"), "accepted");
}

TEST_F(IntakeTest, ChecksEveryTokenIdAgainstTheEmbedding) {
  EXPECT_EQ(code_of(R"({"prompt":[1023]})"), "accepted");
  EXPECT_EQ(code_of(R"({"prompt":[1024]})"), "invalid_request prompt");
  EXPECT_EQ(code_of(R"({"prompt":[1],"stop_token_ids":[1024]})"), "invalid_request stop_token_ids");
  EXPECT_EQ(code_of(R"({"prompt":[1],"logit_bias":{"1024":1}})"), "invalid_request logit_bias");
}

TEST_F(IntakeTest, RefusesAnEmptyPrompt) {
  EXPECT_EQ(code_of(R"({"prompt":[]})"), "invalid_request prompt");
  EXPECT_EQ(code_of(R"({"prompt":""})"), "invalid_request prompt");
}

TEST_F(IntakeTest, AnyModelIsServedUnlessTheUserAsksForACheck) {
  EXPECT_EQ(code_of(R"({"prompt":[1],"model":"other"})"), "accepted");

  options_.check_model = true;
  options_.state.name = "fact";
  options_.state.serves = {"alias"};
  EXPECT_EQ(code_of(R"({"prompt":[1],"model":"other"})"), "model_mismatch model");
  for (const char* name : {"fact", "alias", "tiny-llama", "hub/tiny-llama"})
    EXPECT_EQ(code_of(R"({"prompt":[1],"model":")" + std::string(name) + "\"}"), "accepted")
        << name;
  EXPECT_EQ(code_of(R"({"prompt":[1]})"), "accepted");
}

TEST_F(IntakeTest, WhatIsNoJsonIsARecordToo) {
  EXPECT_EQ(code_of("{"), "invalid_json_line ");
  EXPECT_EQ(code_of(""), "invalid_json_line ");
}

}  // namespace
}  // namespace sticky::worker
