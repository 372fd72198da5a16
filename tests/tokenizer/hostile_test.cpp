// A tokenizer.json that was cut or changed: an Error or a tokenizer, never a crash (under the
// sanitizers of preset asan).

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "sticky/tokenizer/tokenizer.hpp"
#include "tests/tokenizer/samples.hpp"

namespace sticky::tokenizer {
namespace {

// Every component once.
const std::string kTokenizer = R"json({"model":{"type":"BPE","unk_token":"<u>","byte_fallback":true,
"fuse_unk":true,"ignore_merges":false,"vocab":{"<u>":0,"a":1,"b":2,"ab":3,"\u2581":4,"<0x41>":5,
"aba":6},"merges":["a b",["ab","a"]]},"added_tokens":[{"id":7,"content":"<s>","special":true,
"lstrip":true,"rstrip":true,"single_word":false,"normalized":true}],"normalizer":{"type":"Sequence",
"normalizers":[{"type":"NFKC"},{"type":"Prepend","prepend":"\u2581"},{"type":"Replace",
"pattern":{"Regex":"\\s+(?!x)"},"content":"\u2581"}]},"pre_tokenizer":{"type":"Sequence",
"pretokenizers":[{"type":"Digits","individual_digits":true},{"type":"Split",
"pattern":{"String":"b"},"behavior":"MergedWithNext","invert":false},{"type":"Metaspace",
"replacement":"\u2581","prepend_scheme":"first","split":true}]},"post_processor":{
"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{
"id":"A","type_id":0}}],"special_tokens":{"<s>":{"id":"<s>","ids":[7],"tokens":["<s>"]}}},
"decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"\u2581"},
"content":" "},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,
"stop":0}]}})json";

// One folder for thousands of files of the same name.
class HostileTokenizer : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Tokenizer> load(std::string_view json) const {
    folder_.write("tokenizer.json", json);
    return load_from_folder(folder_.path()).tokenizer;
  }
  test::TempDir folder_;
};

// Whatever the tokenizer makes of it.
void use(const Tokenizer& tokenizer) {
  for (const char* text : {"", " ab1 <s> b\xC3\xA9\xFF", "<s><s> a"}) {
    const auto ids = tokenizer.encode(text, {.add_special_tokens = true});
    (void)tokenizer.decode(ids, false);
    const ByteRange all{0, static_cast<i64>(std::string_view(text).size())};
    (void)tokenizer.encode_with_content(text, {&all, 1}, {});
  }
}

TEST_F(HostileTokenizer, IsWholeBeforeItIsHarmed) {
  const auto tokenizer = load(kTokenizer);

  EXPECT_EQ(tokenizer->encode("ab", {.add_special_tokens = true}), (std::vector<i32>{7, 4, 1, 2}));
}

TEST_F(HostileTokenizer, CutAtAnyLengthIsAnError) {
  for (std::size_t n = 0; n < kTokenizer.size(); ++n)
    ASSERT_THROW((void)load(kTokenizer.substr(0, n)), FormatError) << n;
}

TEST_F(HostileTokenizer, ChangedAtRandomIsAnErrorOrATokenizer) {
  std::mt19937 random(1);
  int n_loaded = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string changed = kTokenizer;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      const auto at = random() % changed.size();
      const auto kind = random() % 3;
      if (kind == 0) changed[at] = static_cast<char>(random());
      if (kind == 1) changed.erase(at, 1 + random() % 30);
      if (kind == 2) changed.insert(at, changed.substr(random() % changed.size(), random() % 30));
    }
    try {
      use(*load(changed));
      ++n_loaded;
    } catch (const Error&) {
      continue;
    }
  }
  EXPECT_GT(n_loaded, 0);
}

}  // namespace
}  // namespace sticky::tokenizer
