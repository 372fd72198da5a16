// The judge is nlohmann's own value type, which our parsers do not use.
#include "src/base/json_fast.hpp"

#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sticky/base/error.hpp"

namespace sticky {
namespace {

constexpr std::array kLines = {
    R"({"custom_id": "c1", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": )"
    R"([{"role": "user", "content": "Is 3 < 5? \"Yes\" \u00e9 漢 \n"}], "temperature": 0.70}})",
    R"({"id":"x","prompt":[1,22,333],"seed":-9223372036854775808,"top_p":1e-2,"stop":["a","b"]})",
    R"( {"a":[null,true,false,[],{},[[[1]]]],"":"","n":-0.0,"m":18446744073709551615} )",
    R"([{"a":1,"b":2,"a":3},"\\\"\/\b\f\n\r\t",1.5E+3,-7])"};

TEST(JsonFast, TakesOrdinaryLinesAndKeepsTheTextOfNumbers) {
  const auto json = parse_json_fast(kLines[0]);
  ASSERT_TRUE(json);
  EXPECT_EQ(json->find("body")->find("temperature")->number_text(), "0.70");
  EXPECT_TRUE(parse_json_fast(kLines[1]));
  EXPECT_EQ(parse_json_fast("[1.10 ,1E5\n]")->dump(), "[1.10,1E5]");
}

// A line of millions of small objects must not take many times the memory of its values.
TEST(JsonFast, KeepsNoRoomThatAnObjectDoesNotNeed) {
  const auto json = parse_json_fast(R"({"none":{},"one":{"a":1}})");
  EXPECT_EQ(json->find("none")->as_object().capacity(), 0U);
  EXPECT_EQ(json->find("one")->as_object().capacity(), 1U);
}

TEST(JsonFast, LeavesToTheStrictParserWhatItDoesNotGiveAsItStands) {
  for (const char* text :
       {R"(["\ud83d\ude00"])", R"(["\uDC00"])", "[123456789012345678901]", "\xEF\xBB\xBF[]", "7",
        "[1] x", "[1]]", "[1,]", "[\"\xff\"]", R"({"a" 1})", "[truee]", "[01]", "[1e400]", ""})
    EXPECT_FALSE(parse_json_fast(text)) << text;
}

// Cuts, doubles and changes bytes, mostly to those that mean something in JSON.
std::string mutate(std::string text, std::mt19937& random) {
  constexpr std::string_view kTelling = "{}[]:,\"\\u0123eE+-. \t\n\x01\xC3\xA9tfn";
  for (auto n = random() % 4; n != ~std::size_t{0} && !text.empty(); --n) {
    const std::size_t at = random() % text.size();
    const char byte = kTelling[random() % kTelling.size()];
    switch (random() % 5) {
      case 0:
        text.erase(at, 1 + random() % 3);
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), random() % 8));
        break;
      case 3:
        text.resize(at);
        break;
      default:
        text[at] = byte;
    }
  }
  return text;
}

TEST(JsonFast, SaysWhatTheJudgeSaysOfMutatedLines) {
  std::mt19937 random(1);
  int n_valid = 0;
  for (int round = 0; round < 200'000; ++round) {
    const std::string text = mutate(kLines[random() % kLines.size()], random);
    const auto expected = nlohmann::json::parse(text, nullptr, false);
    const auto fast = parse_json_fast(text);
    if (fast) {
      ++n_valid;
      ASSERT_FALSE(expected.is_discarded()) << text;
      ASSERT_EQ(nlohmann::json::parse(fast->dump()), expected) << text;
    }
    try {
      const Json strict = Json::parse(text);
      ASSERT_FALSE(expected.is_discarded()) << text;
      ASSERT_EQ(nlohmann::json::parse(strict.dump()), expected) << text;
    } catch (const FormatError&) {
      ASSERT_TRUE(expected.is_discarded()) << text;
    }
  }
  EXPECT_GT(n_valid, 10'000);
}

}  // namespace
}  // namespace sticky
