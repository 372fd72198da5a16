#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "sticky/checkpoint/checkpoint.hpp"
#include "sticky/tokenizer/tokenizer.hpp"
#include "tests/tokenizer/samples.hpp"

namespace sticky::tokenizer {
namespace {

TEST(SmolLm2Gguf, GivesTheIdsThatTokenizerJsonGives) {
  const char* folder = std::getenv("STICKY_SMOLLM2");
  ASSERT_NE(folder, nullptr) << "STICKY_SMOLLM2 must name a folder with smollm2.gguf";
  const auto checkpoint = checkpoint::open_checkpoint(std::string(folder) + "/smollm2.gguf");

  const TextFiles files = load_from_gguf(checkpoint->config(), checkpoint->path());

  const Json strings = Json::parse(test::sample("strings.shared.json"));
  const Json reference = Json::parse(test::sample("smollm2.shared.json"));
  for (const Json& c : reference.find("cases")->as_array()) {
    const auto n = static_cast<std::size_t>(c.find("n")->as_integer());
    const std::string& text = strings.as_array().at(n).find("text")->as_string();
    EXPECT_EQ(files.tokenizer->encode(text, {}), test::ids_of(*c.find("ids"))) << n;
  }
  EXPECT_EQ(files.special.bos, "<|im_start|>");
  EXPECT_EQ(files.special.eos, "<|im_end|>");
  EXPECT_EQ(files.eos_ids, (std::vector<i32>{2}));
  ASSERT_TRUE(files.chat_template.has_value());
  EXPECT_TRUE(files.chat_template->starts_with("{% for message in messages %}"));
}

}  // namespace
}  // namespace sticky::tokenizer
