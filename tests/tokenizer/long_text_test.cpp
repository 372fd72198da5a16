// Texts whose length is the attack. A quadratic step runs into the time limit of the test.

#include <cstring>
#include <gmock/gmock.h>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "sticky/tokenizer/tokenizer.hpp"
#include "tests/tokenizer/samples.hpp"

namespace sticky::tokenizer {
namespace {

std::string repeated(std::string_view part, int n) {
  std::string out;
  for (int i = 0; i < n; ++i)
    out += part;
  return out;
}

struct Expected {
  std::size_t n_ids;
  i32 first;
  i32 last;
};
struct LongText {
  const char* tokenizer;
  std::vector<Expected> expected;  ///< in the order of kParts
};

// What tokenizers 0.23.3 makes of 100,000 of each.
const std::vector<const char*> kParts{"a", " ", "1", "\n", "\u0301", "ab ", "é"};
const std::vector<LongText> kLongTexts{
    {"smollm2",
     {{25000, 46880, 46880},
      {1563, 40686, 12427},
      {100000, 33, 33},
      {25000, 22342, 22342},
      {200000, 151, 219},
      {100001, 369, 216},
      {100000, 2756, 2756}}},
    {"llama2",
     {{12503, 264, 28708},
      {6251, 359, 28705},
      {100001, 28705, 28740},
      {100001, 28705, 13},
      {100001, 28705, 28949},
      {100001, 534, 28705},
      {100000, 1233, 28797}}},
};

class LongTextTest : public testing::TestWithParam<LongText> {};

TEST_P(LongTextTest, IsTokenizedAsTheOriginalDoesInLinearTime) {
  const auto tokenizer =
      test::tokenizer_of(test::sample(GetParam().tokenizer + std::string("/tokenizer.json")));
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    const std::string text = repeated(kParts[i], 100'000);
    const std::vector<i32> ids = tokenizer->encode(text, {});
    const Expected& expected = GetParam().expected[i];

    ASSERT_EQ(ids.size(), expected.n_ids) << i;
    EXPECT_EQ(ids.front(), expected.first) << i;
    EXPECT_EQ(ids.back(), expected.last) << i;
    EXPECT_EQ(tokenizer->decode(ids, false), text) << i;
  }
}

TEST_P(LongTextTest, OfAMillionCharactersIsTokenizedToo) {
  const auto tokenizer =
      test::tokenizer_of(test::sample(GetParam().tokenizer + std::string("/tokenizer.json")));
  for (const char* part :
       {"a", " ", "<|im_start|", "\u0301\u0323", "1", "\n", "!", "漢", "👍", "a "}) {
    const std::string text = repeated(part, 1'000'000 / static_cast<int>(std::strlen(part)));

    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text, {}), false), text);
  }
}

INSTANTIATE_TEST_SUITE_P(Real, LongTextTest, testing::ValuesIn(kLongTexts), [](const auto& test) {
  return std::string(test.param.tokenizer);
});

std::unique_ptr<Tokenizer> with_parts(const std::string& normalizer, const std::string& split) {
  return test::tokenizer_of(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []},
      "normalizer": )" + normalizer +
                            R"(, "pre_tokenizer": )" + split + "}");
}

std::string split_at(const std::string& pattern) {
  return R"({"type": "Split", "behavior": "Isolated", "invert": false, "pattern": {"Regex": ")" +
         pattern + R"("}})";
}

// Each match that swallows the blanks behind it would read all of them again. The original gives
// the same ids for short runs.
TEST(LongText, AddedTokensThatSwallowBlanksTakeLinearTime) {
  const auto n_ids = [](const std::string& flags) {
    const auto tokenizer = test::tokenizer_of(
        R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
            "added_tokens": [{"id": 1, "content": "  ", )" +
        flags + "}]}");
    return tokenizer->encode("a" + std::string(1'000'000, ' ') + "a", {}).size();
  };

  EXPECT_EQ(n_ids(R"("rstrip": true)"), 500'002U);
  EXPECT_EQ(n_ids(R"("lstrip": true)"), 500'002U);
  EXPECT_EQ(n_ids(R"("lstrip": true, "rstrip": true)"), 3U);
}

// Marks of two combining classes in turn: an ordering by exchange of neighbours needs n^2 steps.
TEST(LongText, CombiningMarksAreOrderedInLinearTime) {
  const auto tokenizer = with_parts(R"({"type": "NFC"})", "null");

  EXPECT_EQ(tokenizer->encode("a" + repeated("\u0301\u0323", 500'000) + "b", {}),
            (std::vector<i32>{1}));  // "a" has become U+1EA1, the rest has no piece
}

TEST(LongText, APatternThatNeedsAStackForEveryCharacterIsMatched) {
  const auto tokenizer = with_parts("null", split_at("(a|aa)+b"));

  EXPECT_EQ(tokenizer->encode(repeated("a", 300'000) + "b", {}).size(), 300'001U);
}

TEST(LongText, APatternThatBacktracksWithoutEndIsAnError) {
  const auto tokenizer = with_parts("null", split_at("(a|aa)+[cd]"));

  try {
    (void)tokenizer->encode(repeated("a", 100) + "b", {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("(a|aa)+[cd]"));
  }
}

TEST(Tokenizer, ServesSeveralThreadsAtOnce) {
  const auto tokenizer = test::tokenizer_of(test::sample("smollm2/tokenizer.json"));
  const std::string text = repeated("The capital of Norway is Oslo, 1234 naïve cafés.\n", 200);
  const std::vector<i32> expected = tokenizer->encode(text, {});

  std::vector<std::vector<i32>> ids(4);
  std::vector<std::thread> threads;
  for (auto& mine : ids) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i)
        mine = tokenizer->encode(text, {});
    });
  }
  for (std::thread& thread : threads)
    thread.join();

  EXPECT_EQ(ids, std::vector<std::vector<i32>>(4, expected));
}

}  // namespace
}  // namespace sticky::tokenizer
