#include <gtest/gtest.h>

#include "sticky/request/request.hpp"

namespace sticky::request {

namespace {

std::string canonical(std::string_view line) {
  return canonical_request(Json::parse(line));
}

constexpr const char* kLine =
    R"({"custom_id":"a","method":"POST","url":"/v1/completions","body":{"prompt":"Hi","seed":1}})";

}  // namespace

TEST(CanonicalRequest, NeitherIdOrderBlanksColumnsNorHarmlessParametersCount) {
  for (
      const char* same :
      {R"({"custom_id":"b","method":"POST","url":"/v1/completions","body":{"prompt":"Hi","seed":1}})",
       R"({"body": {"seed": 1, "prompt": "\u0048i"}, "url":"/v1/completions", "method":"POST"})",
       R"({"method":"POST","url":"/v1/completions","body":{"prompt":"Hi","seed":1,"user":"x"},"c":1})",
       R"({"method":"POST","url":"/v1/completions","body":{"prompt":"Hi","seed":1,"top_p":null}})",
       R"({"prompt":"Hi","seed":1,"label":"yes","user":"x","id":"c"})"})
    EXPECT_EQ(canonical(same), canonical(kLine)) << same;
}

TEST(CanonicalRequest, WhateverMayChangeTheAnswerCounts) {
  for (const char* other :
       {R"({"method":"POST","url":"/v1/completions","body":{"prompt":"Hi ","seed":1}})",
        R"({"method":"POST","url":"/v1/completions","body":{"prompt":"Hi","seed":2}})",
        R"({"method":"POST","url":"/v1/completions","body":{"prompt":"Hi","seed":1,"model":"m"}})",
        R"({"method":"POST","url":"/v1/chat/completions","body":{"prompt":"Hi","seed":1}})",
        R"({"method":"GET","url":"/v1/completions","body":{"prompt":"Hi","seed":1}})",
        R"({"method":"POST","url":"/v1/completions","body":{"prompt":"Hi","seed":1,"sead":2}})",
        R"({"method":"POST","url":"/v1/completions","body":[]})", R"({"prompt":"Hi"})",
        R"({"messages":"Hi","seed":1})", "[]", "{}", "7"})
    EXPECT_NE(canonical(other), canonical(kLine)) << other;
}

TEST(CanonicalRequest, NestedNamesAreSortedAndListsKeepTheirOrder) {
  EXPECT_EQ(
      canonical(R"({"messages":[{"role":"user","content":"b"},{"content":"a","role":"user"}]})"),
      R"({"body":{"messages":[{"content":"b","role":"user"},{"content":"a","role":"user"}]},)"
      R"("method":"POST","url":"/v1/chat/completions"})");
}

TEST(LineParts, IdModelAndRowAreReadAsTheyStand) {
  const Json batch = Json::parse(
      R"({"custom_id":"a","method":"POST","url":"/v1/completions","body":{"model":"m"},"label":1})");
  const Json shorthand = Json::parse(R"({"id":"b","prompt":"Hi","model":"n"})");

  EXPECT_EQ(id_of(batch), "a");
  EXPECT_EQ(model_of(batch), "m");
  EXPECT_EQ(row_of(batch).dump(), R"({"label":1})");
  EXPECT_EQ(id_of(shorthand), "b");
  EXPECT_EQ(model_of(shorthand), "n");
  EXPECT_TRUE(row_of(shorthand).is_null());
}

TEST(LineParts, WhatIsMissingOrOfAnotherKindIsNothing) {
  for (const char* line : {"7", "{}", R"({"id":"","prompt":"x"})", R"({"id":7,"model":7})",
                           R"({"custom_id":null,"id":"a","body":7})"}) {
    EXPECT_EQ(id_of(Json::parse(line)), std::nullopt) << line;
    EXPECT_EQ(model_of(Json::parse(line)), std::nullopt) << line;
  }
  EXPECT_TRUE(row_of(Json::parse("[1]")).is_null());
}

}  // namespace sticky::request
