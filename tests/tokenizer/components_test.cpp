// Each component by small tokenizers and texts that stress it, against what Hugging Face tokenizers
// 0.23.3 made of them (tests/data/tokenizer/make_component_expectations.py).

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sticky/tokenizer/tokenizer.hpp"
#include "tests/tokenizer/samples.hpp"

namespace sticky::tokenizer {
namespace {

using test::ids_of;

// components.json shows one component after the other, random.json any of them together.
class Components : public testing::TestWithParam<const char*> {};

TEST_P(Components, EncodeAndDecodeAsTheOriginalDoes) {
  const Json expectations = Json::parse(test::sample(GetParam()));
  for (const Json& one : expectations.find("tokenizers")->as_array()) {
    SCOPED_TRACE(one.find("name")->as_string());
    const auto tokenizer = test::tokenizer_of(one.find("tokenizer")->dump());
    for (const Json& c : one.find("cases")->as_array()) {
      const std::string& text = c.find("text")->as_string();
      SCOPED_TRACE(c.find("text")->dump());
      const std::vector<i32> ids = ids_of(*c.find("ids"));
      EXPECT_EQ(tokenizer->encode(text, {}), ids);
      EXPECT_EQ(tokenizer->encode(text, {.add_special_tokens = true}),
                ids_of(*c.find("with_special")));

      const Json* decoded = c.find("decoded");
      if (decoded == nullptr) continue;  // the original gave up
      const std::vector<i32> shuffled = ids_of(*c.find("shuffled"));
      EXPECT_EQ(tokenizer->decode(ids, false), decoded->as_array()[0].as_string());
      EXPECT_EQ(tokenizer->decode(ids, true), decoded->as_array()[1].as_string());
      EXPECT_EQ(tokenizer->decode(shuffled, false), decoded->as_array()[2].as_string());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded,
                         Components,
                         testing::Values("components.json", "random.json"),
                         [](const auto& file) {
                           const std::string name = file.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace sticky::tokenizer
