#include <gmock/gmock.h>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "sticky/tokenizer/tokenizer.hpp"
#include "tests/tokenizer/samples.hpp"

namespace sticky::tokenizer {
namespace {

using Ids = std::vector<i32>;

// Metadata of a byte-level vocabulary with a control token and a user's token.
Json metadata() {
  Json out = Json::parse(R"({"general.architecture": "llama",
      "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm",
      "tokenizer.ggml.tokens": ["<eos>", "a", "Ġ", "1", "Ġa", "11", "<user>", "é", "b", "Ġab"],
      "tokenizer.ggml.token_type": [3, 1, 1, 1, 1, 1, 4, 1, 1, 1],
      "tokenizer.ggml.merges": ["Ġ a", "1 1"],
      "tokenizer.ggml.bos_token_id": 8, "tokenizer.ggml.eos_token_id": 0,
      "tokenizer.ggml.padding_token_id": 6, "tokenizer.chat_template": "{{ messages }}"})");
  return out;
}

std::string error_of(const Json& metadata) {
  try {
    (void)load_from_gguf(metadata, "m.gguf");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "no error";
}

TEST(GgufTokenizer, ReadsPiecesMergesTypesAndSpecialTokens) {
  const TextFiles files = load_from_gguf(metadata(), "m.gguf");

  // "smollm" sets every digit apart, so 11 is not merged.
  EXPECT_EQ(files.tokenizer->encode("a a11<eos><user>", {}), (Ids{1, 4, 3, 3, 0, 6}));
  EXPECT_EQ(files.tokenizer->decode(Ids{1, 4, 0, 6}, true), "a a<user>");
  EXPECT_EQ(files.special.bos, "b");
  EXPECT_EQ(files.special.eos, "<eos>");
  EXPECT_EQ(files.special.pad, "<user>");
  EXPECT_EQ(files.special.unk, "");
  EXPECT_EQ(files.eos_ids, (Ids{0}));
  EXPECT_EQ(files.chat_template, "{{ messages }}");
}

TEST(GgufTokenizer, ThePreTokenizerIsWhatItsNameSays) {
  const auto ids = [](const char* pre, const char* text) {
    Json json = metadata();
    json.set("tokenizer.ggml.pre", pre);
    return load_from_gguf(json, "m.gguf").tokenizer->encode(text, {});
  };

  EXPECT_EQ(ids("gpt-2", "11"), (Ids{5}));
  EXPECT_EQ(ids("qwen2", "11"), (Ids{3, 3}));
  EXPECT_EQ(ids("llama-bpe", "1111"), (Ids{5, 3, 3}));  // three digits, then one
  EXPECT_EQ(ids("llama-bpe", " ab"), (Ids{9}));         // a piece that no merge makes
  EXPECT_EQ(ids("gpt-2", " ab"), (Ids{4, 8}));
  EXPECT_EQ(ids("default", "1111"), (Ids{5, 3, 3}));
}

// One token for each word that may be told apart, so that the ids show where the text was cut.
TEST(GgufTokenizer, EachNameCutsAtItsOwnPlaces) {
  const auto ids = [](const char* pre, const char* text) {
    const Json json = Json::object(
        {{"tokenizer.ggml.model", "gpt2"},
         {"tokenizer.ggml.pre", pre},
         {"tokenizer.ggml.tokens", Json::parse(R"(["a", "B", "aB", "'", "s", "'s", "a's", "/",
             "Ċ", "//", "/Ċ", "1", "11", "é", "Ã©"])")},
         {"tokenizer.ggml.token_type", Json::parse("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]")},
         {"tokenizer.ggml.merges", Json::parse(R"(["a B", "' s", "a 's", "/ /", "/ Ċ", "1 1"])")}});
    return load_from_gguf(json, "m.gguf").tokenizer->encode(text, {});
  };
  // Capitals in a word: tekken and gpt-4o begin another one, the others do not.
  EXPECT_EQ(ids("llama-bpe", "aB"), (Ids{2}));
  EXPECT_EQ(ids("tekken", "aB"), (Ids{0, 1}));
  EXPECT_EQ(ids("gpt-4o", "aB"), (Ids{0, 1}));
  // A contraction: part of the word in gpt-4o, a word of its own in the others.
  EXPECT_EQ(ids("gpt-4o", "a's"), (Ids{6}));
  EXPECT_EQ(ids("llama-bpe", "a's"), (Ids{0, 5}));
  EXPECT_EQ(ids("tekken", "a's"), (Ids{0, 5}));
  // Digits one by one, or up to three.
  EXPECT_EQ(ids("tekken", "11"), (Ids{11, 11}));
  EXPECT_EQ(ids("gpt-4o", "11"), (Ids{12}));
  EXPECT_EQ(ids("dbrx", "11"), (Ids{12}));
  EXPECT_EQ(ids("refact", "11"), (Ids{11, 11}));
  EXPECT_EQ(ids("seed-coder", "11"), (Ids{11, 11}));
  EXPECT_EQ(ids("deepseek-coder", "11"), (Ids{11, 11}));
  // Signs take a line break with them, or not.
  EXPECT_EQ(ids("llama-bpe", "/\n"), (Ids{10}));
  EXPECT_EQ(ids("seed-coder", "/\n"), (Ids{7, 8}));
  EXPECT_EQ(ids("gpt-2", "/\n"), (Ids{7, 8}));
  // A word that is a piece is that piece, whatever its merges, in these only.
  EXPECT_EQ(ids("llama-bpe", "é"), (Ids{14}));
  EXPECT_EQ(ids("tekken", "é"), (Ids{14}));
  EXPECT_NE(ids("dbrx", "é"), (Ids{14}));
}

TEST(GgufTokenizer, UnusedIdsAreNoText) {
  Json json = metadata();
  json.set("tokenizer.ggml.token_type", Json::parse("[3, 1, 1, 1, 1, 1, 4, 1, 1, 5]"));
  json.set("tokenizer.ggml.pre", "llama-bpe");

  const TextFiles files = load_from_gguf(json, "m.gguf");

  EXPECT_EQ(files.tokenizer->encode(" ab", {}), (Ids{4, 8}));
  EXPECT_EQ(files.tokenizer->piece(9), "");
  EXPECT_EQ(files.tokenizer->decode(Ids{8, 9, 1}, false), "ba");
  EXPECT_EQ(files.tokenizer->id_of("Ġab"), std::nullopt);
}

TEST(GgufTokenizer, WithoutTypesAllTokensAreText) {
  Json json = metadata();
  json.set("tokenizer.ggml.token_type", Json());
  EXPECT_EQ(load_from_gguf(json, "m.gguf").tokenizer->encode("a a", {}), (Ids{1, 4}));
  EXPECT_FALSE(load_from_gguf(json, "m.gguf").tokenizer->is_special(0));
}

TEST(GgufTokenizer, WhatEndsAMessageInTheTemplateEndsAText) {
  Json json = metadata();
  json.set("tokenizer.ggml.eot_token_id", 4);
  EXPECT_EQ(load_from_gguf(json, "m.gguf").eos_ids, (Ids{0, 4}));

  json.find("tokenizer.ggml.tokens")->as_array()[6] = "<end_of_turn>";
  json.find("tokenizer.ggml.token_type")->as_array()[6] = 3;
  EXPECT_EQ(load_from_gguf(json, "m.gguf").eos_ids, (Ids{0, 4}));  // a base model has it too
  json.set("tokenizer.chat_template", "{{ messages[0].content }}<end_of_turn>");
  EXPECT_EQ(load_from_gguf(json, "m.gguf").eos_ids, (Ids{0, 4, 6}));
  json.find("tokenizer.ggml.token_type")->as_array()[6] = 4;
  EXPECT_EQ(load_from_gguf(json, "m.gguf").eos_ids, (Ids{0, 4}));
}

// Metadata of a SentencePiece vocabulary.
Json sentence_pieces() {
  return Json::parse(R"({"general.architecture": "llama", "tokenizer.ggml.model": "llama",
      "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>", "<0x0A>", "▁", "a", "▁a", "  ", "<|end|>"],
      "tokenizer.ggml.scores": [0, 0, 0, 0, -2, -3, -1, -1000, -1000],
      "tokenizer.ggml.token_type": [2, 3, 3, 6, 1, 1, 1, 4, 3],
      "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2})");
}

TEST(GgufTokenizer, SentencePieceTakesEachTypeAsItIs) {
  const auto tokenizer = load_from_gguf(sentence_pieces(), "m.gguf").tokenizer;

  // A blank before the text and behind each token that is found whole; bytes for what has no piece;
  // no piece for that byte: unknown.
  EXPECT_EQ(tokenizer->encode("a", {.add_special_tokens = true}), (Ids{1, 6}));
  EXPECT_EQ(tokenizer->encode("a\na", {}), (Ids{6, 3, 5}));
  EXPECT_EQ(tokenizer->encode("a  a</s>a", {}), (Ids{6, 7, 6, 2, 6}));
  EXPECT_EQ(tokenizer->encode("b", {}), (Ids{4, 0}));
  EXPECT_EQ(tokenizer->decode(Ids{6, 3, 6, 7, 5}, false), "a\n a  a");

  Json json = sentence_pieces();
  json.set("tokenizer.ggml.add_space_prefix", false);
  json.set("tokenizer.ggml.add_bos_token", false);
  json.set("tokenizer.ggml.add_eos_token", true);
  EXPECT_EQ(load_from_gguf(json, "m.gguf").tokenizer->encode("a", {.add_special_tokens = true}),
            (Ids{5, 2}));
}

TEST(GgufTokenizer, TokensOfPhi3sChatsSwallowBlanksBehindThem) {
  Json json = sentence_pieces();
  EXPECT_EQ(load_from_gguf(json, "m.gguf").tokenizer->encode("<|end|>\na", {}), (Ids{8, 4, 3, 5}));
  json.set("general.architecture", "phi3");
  EXPECT_EQ(load_from_gguf(json, "m.gguf").tokenizer->encode("<|end|>\na", {}), (Ids{8, 6}));
}

TEST(GgufTokenizer, BosAndEosAreAddedAsTheFileSaysOrAsSuchModelsHaveIt) {
  const EncodeOptions with_special{.add_special_tokens = true};
  Json json = metadata();
  EXPECT_EQ(load_from_gguf(json, "m.gguf").tokenizer->encode("a", with_special), (Ids{1}));

  json.set("tokenizer.ggml.pre", "llama-bpe");
  EXPECT_EQ(load_from_gguf(json, "m.gguf").tokenizer->encode("a", with_special), (Ids{8, 1}));

  json.set("tokenizer.ggml.add_bos_token", false);
  json.set("tokenizer.ggml.add_eos_token", true);
  EXPECT_EQ(load_from_gguf(json, "m.gguf").tokenizer->encode("a", with_special), (Ids{1, 0}));
}

// The merges of this vocabulary were once made from scores: their order is the order of the scores.
TEST(GgufTokenizer, ScoresOfSentencePieceGiveTheRecordedIdsToo) {
  const Json json = Json::parse(test::sample("llama2/tokenizer.json"));
  const Json& model = *json.find("model");
  const Json::Object& vocabulary = model.find("vocab")->as_object();
  Json::Array tokens(vocabulary.size());
  Json::Array types;
  for (const auto& [piece, id] : vocabulary) {
    tokens[static_cast<std::size_t>(id.as_integer())] = piece;
    const auto at = static_cast<i64>(types.size());
    types.emplace_back(at == 0 ? 2 : at < 3 ? 3 : at < 259 ? 6 : 1);
  }
  std::unordered_map<std::string, double> score_of;
  for (const Json& merge : model.find("merges")->as_array()) {
    std::string piece = merge.as_string();
    piece.erase(piece.find(' '), 1);
    score_of.emplace(piece, -static_cast<double>(score_of.size()));
  }
  Json::Array scores;
  for (const Json& piece : tokens) {
    const auto found = score_of.find(piece.as_string());
    scores.emplace_back(found == score_of.end() ? -1e9 : found->second);
  }
  Json metadata = Json::object({{"tokenizer.ggml.model", "llama"}});
  metadata.set("tokenizer.ggml.tokens", std::move(tokens));
  metadata.set("tokenizer.ggml.token_type", std::move(types));
  metadata.set("tokenizer.ggml.scores", std::move(scores));
  metadata.set("tokenizer.ggml.unknown_token_id", 0);
  metadata.set("tokenizer.ggml.bos_token_id", 1);

  const auto tokenizer = load_from_gguf(metadata, "m.gguf").tokenizer;

  const Json strings = Json::parse(test::sample("strings.shared.json"));
  const Json reference = Json::parse(test::sample("llama2.shared.json"));
  for (const Json& c : reference.find("cases")->as_array()) {
    const auto n = static_cast<std::size_t>(c.find("n")->as_integer());
    const std::string& text = strings.as_array().at(n).find("text")->as_string();
    Ids expected = test::ids_of(*c.find("ids"));
    EXPECT_EQ(tokenizer->encode(text, {}), expected) << n;
    const Json* decoded = c.find("decoded");
    EXPECT_EQ(tokenizer->decode(expected, false), decoded == nullptr ? text : decoded->as_string())
        << n;
  }
  EXPECT_EQ(tokenizer->encode("", {.add_special_tokens = true}), (Ids{1}));
}

TEST(GgufTokenizer, WhatIsNotUnderstoodIsNamed) {
  const auto with = [](const char* name, const char* value) {
    Json json = metadata();
    json.set(name, Json::parse(value));
    return error_of(json);
  };
  using testing::HasSubstr;

  EXPECT_THAT(with("tokenizer.ggml.model", "\"t5\""), HasSubstr("tokenizer.ggml.model is t5"));
  EXPECT_THAT(with("tokenizer.ggml.pre", "\"odd\""), HasSubstr("tokenizer.ggml.pre is odd"));
  EXPECT_THAT(with("tokenizer.ggml.token_type", "[1]"), HasSubstr("token_type has 1 elements"));
  EXPECT_THAT(with("tokenizer.ggml.merges", "[\"a x\"]"), HasSubstr("merges[0] is \"a x\""));
  EXPECT_THAT(with("tokenizer.ggml.merges", "[\"\"]"), HasSubstr("merges[0]"));
  EXPECT_THAT(with("tokenizer.ggml.bos_token_id", "10"), HasSubstr("should be from 0 to 9"));
  EXPECT_THAT(with("tokenizer.ggml.tokens", "7"), HasSubstr("should be an array"));
  EXPECT_THAT(error_of(Json::array()), HasSubstr("m.gguf"));
}

}  // namespace
}  // namespace sticky::tokenizer
