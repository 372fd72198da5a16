#include <gmock/gmock.h>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "sticky/tokenizer/tokenizer.hpp"
#include "tests/tokenizer/samples.hpp"

namespace sticky::tokenizer {
namespace {

using Ids = std::vector<i32>;
using testing::AllOf;
using testing::HasSubstr;

const char* const kTokenizer = R"({"model": {"type": "BPE", "merges": [["a", "b"]],
    "vocab": {"a": 0, "b": 1, "ab": 2, "<s>": 3, "</s>": 4, "<unk>": 5}},
    "added_tokens": [{"id": 3, "content": "<s>", "special": true}]})";

class LoadTest : public testing::Test {
 protected:
  LoadTest() { folder_.write("tokenizer.json", kTokenizer); }
  [[nodiscard]] TextFiles load() const { return load_from_folder(folder_.path()); }
  [[nodiscard]] std::string error() const {
    try {
      (void)load();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  test::TempDir folder_;
};

TEST_F(LoadTest, NeedsNoFileButTokenizerJson) {
  const TextFiles files = load();

  EXPECT_EQ(files.tokenizer->encode("ab<s>b", {}), (Ids{2, 3, 1}));
  EXPECT_EQ(files.tokenizer->vocab_size(), 6);
  EXPECT_EQ(files.tokenizer->id_of("<s>"), 3);
  EXPECT_EQ(files.tokenizer->id_of("c"), std::nullopt);
  EXPECT_TRUE(files.tokenizer->is_special(3));
  EXPECT_FALSE(files.tokenizer->is_special(4));
  EXPECT_EQ(files.tokenizer->piece(2), "ab");
  EXPECT_EQ(files.tokenizer->piece(6), "");
  EXPECT_EQ(files.tokenizer->piece(-1), "");
  EXPECT_EQ(files.special.bos + files.special.eos + files.special.unk + files.special.pad, "");
  EXPECT_EQ(files.chat_template, std::nullopt);
  EXPECT_THAT(files.eos_ids, testing::IsEmpty());
}

TEST_F(LoadTest, SpecialTokensAreTextsOrObjectsAndTheConfigGoesFirst) {
  folder_.write("tokenizer_config.json", R"({"bos_token": {"content": "<s>"}, "eos_token": null})");
  folder_.write("special_tokens_map.json",
                R"({"bos_token": "b", "eos_token": "</s>", "unk_token": {"content": "<unk>"}})");

  const TextFiles files = load();

  EXPECT_EQ(files.special.bos, "<s>");
  EXPECT_EQ(files.special.eos, "</s>");
  EXPECT_EQ(files.special.unk, "<unk>");
  EXPECT_EQ(files.special.pad, "");
  EXPECT_EQ(files.tokenizer->encode("a</s>", {}), (Ids{0, 4}));
  EXPECT_EQ(files.tokenizer->decode(Ids{0, 4}, true), "a");
}

TEST_F(LoadTest, EosIdsAreThoseOfTheTokenAndOfGeneration) {
  folder_.write("tokenizer_config.json", R"({"eos_token": "</s>"})");
  folder_.write("generation_config.json", R"({"eos_token_id": [3, 4]})");

  EXPECT_EQ(load().eos_ids, (Ids{4, 3}));

  folder_.write("generation_config.json", R"({"eos_token_id": 5})");

  EXPECT_EQ(load().eos_ids, (Ids{4, 5}));
}

TEST_F(LoadTest, AddedTokensOfTheConfigJoinThoseOfTheTokenizer) {
  folder_.write("tokenizer_config.json", R"({"added_tokens_decoder": {
      "3": {"content": "<s>", "special": true},
      "6": {"content": "<new>", "special": true, "lstrip": true}}})");

  EXPECT_EQ(load().tokenizer->encode("a  <new><s>", {}), (Ids{0, 6, 3}));
}

TEST_F(LoadTest, TheChatTemplateIsATextOrTheDefaultOfSeveralOrAFile) {
  folder_.write("tokenizer_config.json", R"({"chat_template": "one"})");
  EXPECT_EQ(load().chat_template, "one");

  folder_.write("tokenizer_config.json", R"({"chat_template": [
      {"name": "tool_use", "template": "tools"}, {"name": "default", "template": "two"}]})");
  EXPECT_EQ(load().chat_template, "two");

  folder_.write("chat_template.jinja", "three\n");
  EXPECT_EQ(load().chat_template, "three\n");
}

TEST_F(LoadTest, ErrorsNameTheFileAndTheMember) {
  folder_.write("tokenizer_config.json", R"({"added_tokens_decoder": {"3": {"content": "x"}}})");
  EXPECT_THAT(error(), AllOf(HasSubstr("tokenizer_config.json"), HasSubstr("\"x\" has the id 3"),
                             HasSubstr("\"<s>\"")));

  folder_.write("tokenizer_config.json", R"({"added_tokens_decoder": {"x": {"content": "x"}}})");
  EXPECT_THAT(error(), HasSubstr("tokenizer_config.json.added_tokens_decoder.x"));

  folder_.write("tokenizer_config.json", R"({"chat_template": [{"name": "rag", "template": ""}]})");
  EXPECT_THAT(error(),
              AllOf(HasSubstr("tokenizer_config.json.chat_template"), HasSubstr("default")));

  folder_.write("tokenizer_config.json", "[]");
  EXPECT_THAT(error(), AllOf(HasSubstr("tokenizer_config.json"), HasSubstr("should be an object")));

  folder_.write("tokenizer_config.json", "{");
  EXPECT_THAT(error(), AllOf(HasSubstr("tokenizer_config.json"), HasSubstr("at byte")));
}

TEST(Load, AMissingTokenizerIsNamed) {
  const test::TempDir folder;

  EXPECT_THROW((void)load_from_folder(folder.path()), SystemError);
}

struct Refused {
  const char* member;  ///< of tokenizer.json
  const char* value;
  const char* names;  ///< what the error has to say
};

class RefusedTest : public testing::TestWithParam<Refused> {};

TEST_P(RefusedTest, IsAnErrorThatNamesIt) {
  Json json = Json::parse(kTokenizer);
  json.set(GetParam().member, Json::parse(GetParam().value));
  test::TempDir folder;
  folder.write("tokenizer.json", json.dump());
  try {
    (void)load_from_folder(folder.path());
    FAIL() << "no error";
  } catch (const FormatError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("tokenizer.json"), HasSubstr(GetParam().names)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Components,
    RefusedTest,
    testing::Values(
        Refused{"model", R"({"type": "Unigram", "vocab": []})", "Unigram"},
        Refused{"model", R"({"vocab": {"a": -1}, "merges": []})", "vocab.a is -1"},
        Refused{"model", R"({"vocab": {"a": 99999999}, "merges": []})", "99999999"},
        Refused{"model", R"({"vocab": {"a": 1, "b": 1}, "merges": []})", "another piece"},
        Refused{"model", R"({"vocab": {"a": 1}, "merges": ["a a"]})", "merges[0]"},
        Refused{"model", R"({"vocab": {"a": 1}, "merges": ["aa"]})", "merges[0]"},
        Refused{"model", R"({"vocab": {"a": 1}, "merges": [], "unk_token": "u"})", "unk_token"},
        Refused{"model", R"({"vocab": {}, "merges": [], "dropout": 0.5})", "dropout"},
        Refused{"model", R"({"vocab": {}, "merges": [], "end_of_word_suffix": "</w>"})", "</w>"},
        Refused{"model", R"({"vocab": {}, "merges": [], "new_option": 1})", "new_option"},
        Refused{"normalizer", R"({"type": "Precompiled"})", "normalizer is of type Precompiled"},
        Refused{"normalizer",
                R"({"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Nmt"}]})",
                "normalizer.normalizers[1] is of type Nmt"},
        Refused{"normalizer", R"({"type": "NFC", "fast": true})", "normalizer.fast"},
        Refused{"pre_tokenizer", R"({"type": "UnicodeScripts"})", "UnicodeScripts"},
        Refused{"pre_tokenizer",
                R"({"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"})",
                "pattern.Regex"},
        Refused{"pre_tokenizer",
                R"({"type": "Split", "pattern": {"String": "a"}, "behavior": "Odd"})", "Odd"},
        Refused{"decoder", R"({"type": "WordPiece"})", "decoder is of type WordPiece"},
        Refused{"post_processor", R"({"type": "Other"})", "post_processor is of type Other"},
        Refused{"post_processor", R"({"type": "BertProcessing"})", "post_processor.cls"},
        Refused{"post_processor", R"({"type": "Sequence", "processors": [
                    {"type": "BertProcessing", "cls": ["a", 0], "sep": ["b", 1]},
                    {"type": "RobertaProcessing", "cls": ["a", 0], "sep": ["b", 1]}]})",
                "processors[1] is of type RobertaProcessing"},
        Refused{"post_processor", R"({"type": "TemplateProcessing", "special_tokens": {},
                "single": [{"SpecialToken": {"id": "<q>", "type_id": 0}}]})",
                "special_tokens.<q> is missing"},
        Refused{"added_tokens", R"([{"id": 3, "content": ""}])", "added_tokens[0].content"},
        Refused{"added_tokens", R"([{"id": 3, "content": "a"}])", "\"a\" has the id 3"}));

class PatternTest : public testing::TestWithParam<const char*> {};

// What PCRE2 would take for something else than Oniguruma does.
TEST_P(PatternTest, ThatMeansSomethingElseElsewhereIsRefused) {
  Json pattern = Json::object({{"Regex", GetParam()}});
  Json split =
      Json::object({{"type", "Split"}, {"pattern", std::move(pattern)}, {"behavior", "Isolated"}});
  Json json = Json::parse(kTokenizer);
  json.set("pre_tokenizer", std::move(split));

  EXPECT_THROW((void)test::tokenizer_of(json.dump()), FormatError);
}

INSTANTIATE_TEST_SUITE_P(Syntax,
                         PatternTest,
                         testing::Values("[&&b]",
                                         "[a&&]",
                                         "[]a]",
                                         "[[:graph:]]",
                                         "\\p{In_Basic_Latin}",
                                         "\\1",
                                         "[[[[[[[[[[a]]]]]]]]]]",
                                         "a{1,3}+",
                                         "\\Ka",
                                         "(?<n>a)",
                                         "(?x:a)",
                                         "a{x}",
                                         "\\u12",
                                         "\\p",
                                         "[a",
                                         "\\",
                                         "(?#c)"));

}  // namespace
}  // namespace sticky::tokenizer
