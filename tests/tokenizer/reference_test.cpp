// Real tokenizers against ids and texts recorded from Hugging Face tokenizers 0.23.3
// (tests/data/tokenizer/README.md).

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sticky/tokenizer/tokenizer.hpp"
#include "tests/tokenizer/samples.hpp"

namespace sticky::tokenizer {
namespace {

using test::ids_of;

std::string bytes_of_hex(const std::string& hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

class ReferenceTest : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    strings_ = std::make_unique<Json>(Json::parse(test::sample("strings.shared.json")));
  }
  static void TearDownTestSuite() { strings_.reset(); }

  ReferenceTest()
      : tokenizer_(test::tokenizer_of(test::sample(GetParam() + "/tokenizer.json"))),
        reference_(Json::parse(test::sample(GetParam() + ".shared.json"))) {}

  [[nodiscard]] const Json::Array& list(const char* name) const {
    return reference_.find(name)->as_array();
  }
  [[nodiscard]] static std::string text(const Json& c) {
    const auto n = static_cast<std::size_t>(c.find("n")->as_integer());
    return strings_->as_array().at(n).find("text")->as_string();
  }

  static std::unique_ptr<Json> strings_;
  std::unique_ptr<Tokenizer> tokenizer_;
  Json reference_;
};

std::unique_ptr<Json> ReferenceTest::strings_;

TEST_P(ReferenceTest, EncodesEveryStringToTheRecordedIds) {
  ASSERT_EQ(list("cases").size(), 501U);
  for (const Json& c : list("cases")) {
    EXPECT_EQ(tokenizer_->encode(text(c), {}), ids_of(*c.find("ids")))
        << "string " << c.find("n")->as_integer() << ": " << text(c).substr(0, 200);
  }
}

TEST_P(ReferenceTest, PutsTheRecordedIdsBeforeATextWhenAskedTo) {
  for (const Json& c : list("cases")) {
    std::vector<i32> expected = ids_of(*reference_.find("ids_added_by_add_special_tokens"));
    const std::vector<i32> ids = ids_of(*c.find("ids"));
    expected.insert(expected.end(), ids.begin(), ids.end());

    EXPECT_EQ(tokenizer_->encode(text(c), {.add_special_tokens = true}), expected);
  }
}

TEST_P(ReferenceTest, DecodesEveryStringToTheRecordedText) {
  for (const Json& c : list("cases")) {
    const std::vector<i32> ids = ids_of(*c.find("ids"));
    const Json* decoded = c.find("decoded");
    const std::string expected = decoded == nullptr ? text(c) : decoded->as_string();
    const Json* skipped = c.find("decoded_skip_special");

    EXPECT_EQ(tokenizer_->decode(ids, false), expected) << c.find("n")->as_integer();
    EXPECT_EQ(tokenizer_->decode(ids, true), skipped == nullptr ? expected : skipped->as_string())
        << c.find("n")->as_integer();
  }
}

TEST_P(ReferenceTest, TakesInvalidBytesAsReplacementCharacters) {
  for (const Json& c : reference_.find("invalid_utf8")->find("cases")->as_array()) {
    const std::string& hex = c.find("hex")->as_string();

    EXPECT_EQ(tokenizer_->encode(bytes_of_hex(hex), {}), ids_of(*c.find("ids"))) << hex;
  }
}

TEST_P(ReferenceTest, DecodesEveryPrefixAsRecordedAndStreamsTheSame) {
  for (const Json& c : list("prefix_decoding")) {
    const std::vector<i32> ids = ids_of(*c.find("ids"));
    const Json::Array& prefixes = c.find("prefixes")->as_array();
    ASSERT_EQ(prefixes.size(), ids.size());
    for (std::size_t n = 1; n <= ids.size(); ++n) {
      const std::vector<i32> prefix(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n));
      StreamDecoder stream(*tokenizer_, false);
      std::string streamed;
      for (const i32 id : prefix)
        streamed += stream.push(id);
      streamed += stream.finish();

      EXPECT_EQ(tokenizer_->decode(prefix, false), prefixes[n - 1].as_string());
      EXPECT_EQ(streamed, prefixes[n - 1].as_string());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Real,
                         ReferenceTest,
                         testing::Values("smollm2", "llama2", "qwen3"),
                         [](const auto& tokenizer) { return tokenizer.param; });

}  // namespace
}  // namespace sticky::tokenizer
