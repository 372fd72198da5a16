#include "sticky/base/json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sticky/base/error.hpp"

namespace sticky {
namespace {

using namespace std::string_literals;

std::string error_of(std::string_view text) {
  try {
    (void)Json::parse(text);
  } catch (const FormatError& e) {
    return e.what();
  }
  return "";
}

TEST(Json, ReadsEachKind) {
  const Json json = Json::parse(R"( {"a":[null,true,-7,2.5,"x"],"b":{}} )");

  const Json::Array& a = json.find("a")->as_array();
  EXPECT_TRUE(a[0].is_null());
  EXPECT_TRUE(a[1].as_bool());
  EXPECT_EQ(a[2].as_integer(), -7);
  EXPECT_EQ(a[3].as_double(), 2.5);
  EXPECT_EQ(a[4].as_string(), "x");
  EXPECT_TRUE(json.find("b")->is_object());
  EXPECT_EQ(json.find("c"), nullptr);
  EXPECT_EQ(a[0].find("a"), nullptr);
}

TEST(Json, PassesNumbersOnAsTheyStood) {
  const std::string text = "[1.10,1E5,123456789012345678901234567890,-0.0,18446744073709551615,-0]";
  EXPECT_EQ(Json::parse(text).dump(),
            "[1.10,1E5,123456789012345678901234567890,-0.0,18446744073709551615,0]");
}

TEST(Json, WritesComputedNumbersSoThatTheyComeBack) {
  EXPECT_EQ(Json(0.1).dump(), "0.1");
  EXPECT_EQ(Json(3.0).dump(), "3.0");
  EXPECT_EQ(Json(1e300).dump(), "1e+300");
  EXPECT_EQ(Json(i64{-5}).dump(), "-5");
  EXPECT_EQ(Json(1.0 / 0.0).dump(), "null");
}

TEST(Json, KeepsOrderAndTheLastOfDoubledNamesAsPythonDoes) {
  EXPECT_EQ(Json::parse(R"({"b":1,"a":2,"b":3})").dump(), R"({"b":3,"a":2})");

  std::string many = "{";  // enough for the path that hashes
  for (int i = 0; i < 40; ++i)
    many += "\"k" + std::to_string(i % 30) + "\":" + std::to_string(i) + (i < 39 ? "," : "}");
  const Json json = Json::parse(many);
  EXPECT_EQ(json.as_object().size(), 30U);
  EXPECT_EQ(json.as_object()[0].name, "k0");
  EXPECT_EQ(json.find("k0")->as_integer(), 30);
  EXPECT_EQ(json.find("k9")->as_integer(), 39);
  EXPECT_EQ(json.find("k10")->as_integer(), 10);
  EXPECT_EQ(json.as_object()[29].name, "k29");
}

TEST(Json, RefusesWhatIsNoUtf8OrHasHalfACharacter) {
  EXPECT_NE(error_of("\"\xff\""), "");
  EXPECT_NE(error_of(R"("\ud800")"), "");
  EXPECT_NE(error_of(R"("\udc00")"), "");
  EXPECT_NE(error_of(R"("\ud800A")"), "");
  EXPECT_EQ(Json::parse(R"("\ud83d\ude00")").as_string(), "\xF0\x9F\x98\x80");
  EXPECT_EQ(Json::parse(R"("a\u0000b")").as_string(), "a\0b"s);
}

TEST(Json, NamesThePlaceOfAnError) {
  EXPECT_EQ(error_of("{\"a\":tru}").substr(0, 10), "at byte 9:");
  for (const char* text :
       {"", " ", "{", "[1,]", "{\"a\"}", "1 2", "nul", "NaN", "01", "'a'", "{} x", "[1", "\"a"})
    EXPECT_NE(error_of(text), "") << text;
}

TEST(Json, BoundsTheDepth) {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_EQ(Json::parse(nested(512)).dump(), nested(512));
  EXPECT_EQ(error_of(nested(513)), "nested deeper than 512 levels");
  EXPECT_NE(error_of(std::string(1'000'000, '[')), "");
}

TEST(Json, WritesStringsThatAnyParserTakes) {
  EXPECT_EQ(Json("a\"\\\n\r\t\b\f\x01\x1f\x7f").dump(),
            "\"a\\\"\\\\\\n\\r\\t\\b\\f\\u0001\\u001f\x7f\"");
  EXPECT_EQ(Json("\xffé").dump(), "\"\xEF\xBF\xBDé\"");
  EXPECT_EQ(Json("a\0b"s).dump(), "\"a\\u0000b\"");
}

// Strings are looked through in strides of eight bytes.
TEST(Json, EscapesAnyByteAtAnyPlace) {
  for (int byte = 0; byte < 0x80; ++byte)
    for (std::size_t at = 0; at < 19; ++at) {
      std::string text = "é23456789abcdefghé";
      text.insert(at < 1 || at > 17 ? at : at + 1, 1, static_cast<char>(byte));
      const std::string written = Json(text).dump();
      ASSERT_EQ(nlohmann::json::parse(written).get<std::string>(), text) << byte << " at " << at;
      ASSERT_EQ(written, nlohmann::json(text).dump()) << byte << " at " << at;
    }
}

TEST(Json, WritesForPeopleWithIndent) {
  EXPECT_EQ(Json::parse(R"({"a":[1,{}],"b":[]})").dump_pretty(),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

TEST(Json, ComparesNumbersByValueAndObjectsByOrder) {
  EXPECT_EQ(Json::parse("[1, 2.50]"), Json::parse("[1.0,2.5]"));
  EXPECT_FALSE(Json::parse("9007199254740993") == Json::parse("9007199254740992"));
  EXPECT_FALSE(Json(true) == Json(1));
  EXPECT_EQ(Json::object({{"a", 1}}), Json::parse(R"({"a":1})"));
}

TEST(Json, SetsAndErasesMembers) {
  Json json;
  json.set("a", 1);
  json.set("b", "x");
  json.set("a", Json::array({1, 2}));
  json.erase("b");

  EXPECT_EQ(json.dump(), R"({"a":[1,2]})");
}

}  // namespace
}  // namespace sticky
