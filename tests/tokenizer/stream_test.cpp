#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sticky/base/utf8.hpp"
#include "sticky/tokenizer/tokenizer.hpp"
#include "tests/tokenizer/samples.hpp"

namespace sticky::tokenizer {
namespace {

// Ids of single bytes, of blanks, of special tokens and any others, so that characters are begun,
// finished and broken all the time.
std::vector<i32> random_ids(const Tokenizer& tokenizer, std::mt19937& random) {
  std::vector<i32> out(random() % 24);
  for (i32& id : out) {
    switch (random() % 3) {
      case 0:
        id = static_cast<i32>(random() % 300);
        break;
      case 1:
        id = static_cast<i32>(random() % 3);
        break;
      default:
        id = static_cast<i32>(random() % static_cast<unsigned>(tokenizer.vocab_size() + 10));
    }
  }
  return out;
}

class StreamTest : public testing::TestWithParam<const char*> {
 protected:
  StreamTest() : tokenizer_(test::tokenizer_of(test::sample(GetParam()))) {}
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(StreamTest, PartsJoinedAreTheDecodedTextAtEveryCut) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const std::vector<i32> ids = random_ids(*tokenizer_, random);
    const bool skips = random() % 2 == 0;
    std::string so_far;
    StreamDecoder stream(*tokenizer_, skips);
    for (std::size_t n = 0; n <= ids.size(); ++n) {
      if (n > 0) so_far += stream.push(ids[n - 1]);
      ASSERT_EQ(utf8::first_invalid(so_far), -1);

      StreamDecoder until_here = stream;
      const std::vector<i32> prefix(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n));
      ASSERT_EQ(so_far + until_here.finish(), tokenizer_->decode(prefix, skips));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Real,
                         StreamTest,
                         testing::Values("smollm2/tokenizer.json", "llama2/tokenizer.json"),
                         [](const auto& sample) {
                           const std::string name = sample.param;
                           return name.substr(0, name.find('/'));
                         });

TEST(StreamDecoder, GivesACharacterAsSoonAsItIsWhole) {
  const auto tokenizer = test::tokenizer_of(test::sample("smollm2/tokenizer.json"));
  const std::vector<i32> ids = tokenizer->encode("👩‍💻 ok", {});
  ASSERT_EQ(ids, (std::vector<i32>{10813, 235, 119, 321, 231, 10813, 236, 136, 10907}));

  StreamDecoder stream(*tokenizer, false);
  std::vector<std::string> parts;
  for (const i32 id : ids)
    parts.push_back(stream.push(id));

  EXPECT_EQ(parts, (std::vector<std::string>{"", "", "👩", "", "\u200D", "", "", "💻", " ok"}));
}

// Only what the interface asks for, as other rooms' tests have it.
class Bytes final : public Tokenizer {
 public:
  std::vector<i32> encode(std::string_view, const EncodeOptions&) const override { return {}; }
  std::vector<i32> encode_with_content(std::string_view,
                                       std::span<const ByteRange>,
                                       const EncodeOptions&) const override {
    return {};
  }
  std::string piece(i32 id) const override { return std::string(1, static_cast<char>(id)); }
  std::string decode(std::span<const i32>, bool) const override { return {}; }
  i64 vocab_size() const override { return 256; }
  std::optional<i32> id_of(std::string_view) const override { return {}; }
  bool is_special(i32 id) const override { return id == 0; }
};

TEST(StreamDecoder, JoinsPiecesWhereTheTokenizerSaysNothingElse) {
  const Bytes tokenizer;
  StreamDecoder stream(tokenizer, true);

  EXPECT_EQ(stream.push('a'), "a");
  EXPECT_EQ(stream.push(0), "");
  EXPECT_EQ(stream.push(0xC3), "");
  EXPECT_EQ(stream.push(0xA9), "é");
  EXPECT_EQ(stream.push(0xE2), "");
  EXPECT_EQ(stream.push('b'), "\uFFFDb");
  EXPECT_EQ(stream.push(0xE2), "");
  EXPECT_EQ(stream.finish(), "\uFFFD");
}

}  // namespace
}  // namespace sticky::tokenizer
