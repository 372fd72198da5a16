#include "sticky/worker/intake.hpp"

#include <new>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"

namespace sticky::worker {
namespace {

// One token a byte, unless the text is one of those that make it fail. Pieces of 1 byte, but one of
// 3.
class FragileTokenizer final : public tokenizer::Tokenizer {
 public:
  [[nodiscard]] std::vector<i32> encode(std::string_view text,
                                        const tokenizer::EncodeOptions&) const override {
    ++n_encoded;
    if (text == "limit") fail<Error>("a pattern ran into its match limit");
    if (text == "memory") throw std::bad_alloc();
    return std::vector<i32>(text.size(), 1);
  }
  [[nodiscard]] std::vector<i32> encode_with_content(
      std::string_view text,
      std::span<const tokenizer::ByteRange>,
      const tokenizer::EncodeOptions& options) const override {
    return encode(text, options);
  }
  [[nodiscard]] std::string piece(i32 id) const override { return id == 5 ? "abc" : "a"; }
  [[nodiscard]] std::string decode(std::span<const i32> ids, bool) const override {
    return std::string(ids.size(), 'a');
  }
  [[nodiscard]] i64 vocab_size() const override { return 10; }
  [[nodiscard]] std::optional<i32> id_of(std::string_view) const override { return std::nullopt; }
  [[nodiscard]] bool is_special(i32) const override { return false; }

  mutable i64 n_encoded = 0;
};

class FragileIntakeTest : public testing::Test {
 protected:
  FragileIntakeTest() {
    auto tokenizer = std::make_unique<FragileTokenizer>();
    tokenizer_ = tokenizer.get();
    files_.tokenizer = std::move(tokenizer);
    files_.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}";
  }
  std::variant<Accepted, Rejected> accept(std::string_view line) {
    const PromptMaker prompts(files_, {});
    return Intake(prompts, {}, {.vocab = 10, .context = 8}).accept(line);
  }
  const FragileTokenizer* tokenizer_ = nullptr;
  tokenizer::TextFiles files_;
};

TEST_F(FragileIntakeTest, ATextThatTheTokenizerCannotTakeIsThatRequestsOwnFault) {
  for (const char* line : {R"({"prompt":"limit","k":1})", R"({"prompt":"memory","k":1})",
                           R"({"messages":[{"role":"user","content":"limit"}],"k":1})"}) {
    const auto verdict = accept(line);
    const auto* rejected = std::get_if<Rejected>(&verdict);
    ASSERT_NE(rejected, nullptr) << line;
    EXPECT_EQ(rejected->error.code, "invalid_request");
    EXPECT_EQ(rejected->error.param, line[2] == 'p' ? "prompt" : "messages");
    EXPECT_EQ(rejected->row.dump(), R"({"k":1})");
  }
}

// 8 tokens of 3 bytes, which a normalizer might have shortened fourfold: 96 bytes.
TEST_F(FragileIntakeTest, ATextFarTooLongIsRefusedWithoutEncodingIt) {
  const auto line = [](std::size_t n) { return R"({"prompt":")" + std::string(n, 'a') + "\"}"; };
  const auto code = [](const std::variant<Accepted, Rejected>& verdict) {
    return std::get<Rejected>(verdict).error.code;
  };

  EXPECT_EQ(code(accept(line(96))), "context_length_exceeded");
  EXPECT_EQ(tokenizer_->n_encoded, 1);
  EXPECT_EQ(code(accept(line(97))), "context_length_exceeded");
  EXPECT_EQ(
      code(accept(R"({"messages":[{"role":"user","content":")" + std::string(97, 'a') + "\"}]}")),
      "context_length_exceeded");
  EXPECT_EQ(tokenizer_->n_encoded, 1);
}

// Each choice would be encoded with the whole prompt before it.
TEST_F(FragileIntakeTest, NoChoiceOfAPromptThatIsTooLongIsEncoded) {
  const auto verdict =
      accept(R"({"choice":["x","y","z"],"prompt":")" + std::string(96, 'a') + "\"}");

  EXPECT_EQ(std::get<Rejected>(verdict).error.code, "context_length_exceeded");
  EXPECT_EQ(std::get<Rejected>(verdict).error.param, "prompt");
  EXPECT_EQ(tokenizer_->n_encoded, 1);
}

TEST_F(FragileIntakeTest, TheColumnsOfALineThatIsNoRequestAreKept) {
  const auto verdict = accept(R"({"prompt":"a","temperature":"hot","city":"Bern"})");

  EXPECT_EQ(std::get<Rejected>(verdict).row.dump(), R"({"city":"Bern"})");
}

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
  EXPECT_EQ(code_of(R"({"prompt":[1,2,3,4,5,6,7,8],"max_tokens":0,"echo":true})"), "accepted");
  EXPECT_EQ(code_of(R"({"prompt":[1,2,3,4,5,6,7,8,9],"max_tokens":0,"echo":true})"),
            "context_length_exceeded prompt");
}

TEST_F(IntakeTest, ChecksEveryTokenIdAgainstTheEmbedding) {
  EXPECT_EQ(code_of(R"({"prompt":[1023]})"), "accepted");
  EXPECT_EQ(code_of(R"({"prompt":[1024]})"), "invalid_request prompt");
  EXPECT_EQ(code_of(R"({"prompt":[1],"stop_token_ids":[1024]})"), "invalid_request stop_token_ids");
  EXPECT_EQ(code_of(R"({"prompt":[1],"logit_bias":{"1024":1}})"), "invalid_request logit_bias");
}

TEST_F(IntakeTest, LogprobsOfManyAnswersAreBounded) {
  const auto code = [&](const char* more, i64 context) {
    const auto line = fmt::format(R"({{"prompt":[1,2,3,4],"top_p":0.5,{}}})", more);
    const auto verdict =
        Intake(prompts_, options_, {.vocab = 1024, .context = context}).accept(line);
    const auto* rejected = std::get_if<Rejected>(&verdict);
    return rejected != nullptr ? rejected->error.code + " " + rejected->error.param : "accepted";
  };

  // 128 x (21 x 390 + 0) is just below 2^20, 391 tokens are above.
  EXPECT_EQ(code(R"("n":128,"logprobs":20,"max_tokens":390)", 4096), "accepted");
  EXPECT_EQ(code(R"("n":128,"logprobs":20,"max_tokens":391)", 4096), "invalid_request n");
  EXPECT_EQ(code(R"("n":128,"logprobs":20,"max_tokens":9000)", 394), "accepted");
  EXPECT_EQ(code(R"("n":128,"max_tokens":100000)", 4096), "accepted");
  EXPECT_EQ(code(R"("n":128,"logprobs":20,"echo":true,"max_tokens":390)", 4096),
            "invalid_request n");
  EXPECT_EQ(code(R"("logprobs":20,"max_tokens":100000)", 1000000), "accepted");
}

// 128 answers with 64 stops of 2,048 bytes are just 2^24.
TEST_F(IntakeTest, WhatEachOfManyAnswersHoldsIsBounded) {
  const auto code = [&](i64 n, i64 n_bytes, const char* more) {
    Json line = Json::object({{"prompt", Json::array({1, 2})}, {"n", n}, {"top_p", 0.5}});
    Json::Array stops;
    for (int i = 0; i < 64; ++i)
      stops.emplace_back(std::string(static_cast<std::size_t>(n_bytes), 'x'));
    line.set("stop", std::move(stops));
    const std::string text = line.dump();
    const auto verdict = Intake(prompts_, options_, {.vocab = 1024, .context = 4096})
                             .accept(text.substr(0, text.size() - 1) + more + "}");
    const auto* rejected = std::get_if<Rejected>(&verdict);
    return rejected != nullptr ? rejected->error.code + " " + rejected->error.param : "accepted";
  };

  EXPECT_EQ(code(128, 2047, ""), "accepted");
  EXPECT_EQ(code(128, 2047, R"(,"return_token_ids":true)"), "accepted");
  EXPECT_EQ(code(128, 2048, R"(,"return_token_ids":true)"), "invalid_request n");
  EXPECT_EQ(code(128, 2048, R"(,"logit_bias":{"1":1})"), "invalid_request n");
  EXPECT_EQ(code(1, 4096, R"(,"logit_bias":{"1":1})"), "accepted");
}

// 256 choices of some tokens behind a prompt of 4,000 tokens, and of 4,095: below 2^20 and above.
TEST_F(IntakeTest, TokensOfManyChoicesAreBounded) {
  const auto code = [&](i64 n_prompt) {
    Json::Array ids(static_cast<std::size_t>(n_prompt), Json(1));
    Json::Array choices;
    for (int i = 0; i < 256; ++i)
      choices.emplace_back(std::string(1, static_cast<char>('!' + i % 64)) + std::to_string(i));
    const Json line = Json::object({{"prompt", std::move(ids)}, {"choice", std::move(choices)}});
    const auto verdict =
        Intake(prompts_, options_, {.vocab = 1024, .context = 5000}).accept(line.dump());
    const auto* rejected = std::get_if<Rejected>(&verdict);
    return rejected != nullptr ? rejected->error.code + " " + rejected->error.param : "accepted";
  };

  EXPECT_EQ(code(4000), "accepted");
  EXPECT_EQ(code(4095), "invalid_request choice");
}

TEST_F(IntakeTest, EachChoiceMustFitBehindThePrompt) {
  EXPECT_EQ(code_of(R"({"prompt":[1,2,3,4,5],"choice":["a","b"]})"), "accepted");
  EXPECT_EQ(code_of(R"({"prompt":[1,2,3,4,5,6,7],"choice":["a","b"]})"), "accepted");
  EXPECT_EQ(code_of(R"({"prompt":[1,2,3,4,5,6,7],"choice":["a"," ~#~#~#~#"]})"),
            "context_length_exceeded choice[1]");
  EXPECT_EQ(code_of(R"({"prompt":[1,2,3,4,5,6,7,8],"choice":["a"]})"),
            "context_length_exceeded prompt");
  EXPECT_EQ(code_of(R"({"prompt":[],"choice":["a"]})"), "invalid_request prompt");
}

// 64 choices of at least 1,000 tokens, with 20 beside each: more than 2^20.
TEST_F(IntakeTest, LogprobsOfManyChoicesAreBounded) {
  Json::Array choices;
  for (int i = 0; i < 64; ++i)
    choices.emplace_back(std::to_string(i) + std::string(4000, '~'));
  Json line = Json::object({{"prompt", Json::array({1})}, {"choice", std::move(choices)}});
  const auto code = [&] {
    const auto verdict =
        Intake(prompts_, options_, {.vocab = 1024, .context = 5000}).accept(line.dump());
    const auto* rejected = std::get_if<Rejected>(&verdict);
    return rejected != nullptr ? rejected->error.code + " " + rejected->error.param : "accepted";
  };

  EXPECT_EQ(code(), "accepted");
  line.set("logprobs", 20);
  EXPECT_EQ(code(), "invalid_request choice");
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
