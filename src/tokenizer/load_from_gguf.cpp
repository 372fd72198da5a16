// Tokenizers of GGUF files. Their metadata names the pre-tokenizer ("tokenizer.ggml.pre") where
// tokenizer.json spells it out; the table below says what is behind a name.
// Source: the GGUF specification, "Tokenizer"; the patterns as llama.cpp has them under these
// names, the normal form as the tokenizer.json of the same models has it.

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "sticky/base/check.hpp"
#include "sticky/base/error.hpp"

#include "fields.hpp"
#include "pipeline.hpp"
#include "score_merges.hpp"

namespace sticky::tokenizer {

namespace {

constexpr std::string_view kWordsLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kWordsQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr const char* kBlank = "\xE2\x96\x81";  // U+2581

struct PreTokenizerOfName {
  std::string_view name;
  std::vector<std::string_view> patterns;  ///< one after the other, matches isolated
  bool is_nfc = false;
  bool ignores_merges = false;
  bool adds_bos = false;  ///< unless the file says
};

const PreTokenizerOfName* find_pre_tokenizer(std::string_view name) {
  static const std::vector<PreTokenizerOfName> kKnown{
      {"gpt-2", {kGpt2Words}},
      {"phi-2", {kGpt2Words}},
      {"olmo", {kGpt2Words}, true},
      {"smollm", {R"(\p{N})", kGpt2Words}},
      {"starcoder", {R"(\p{N})", kGpt2Words}},
      {"llama-bpe", {kWordsLlama3}, false, true, true},
      {"qwen2", {kWordsQwen2}, true},
      {"deepseek-r1-qwen", {kWordsQwen2}, true},
      {"stablelm2", {kWordsQwen2}},
      {"default",
       {R"([\p{P}\$\+<=>\^~\|]+)",
        R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))", R"(\p{N}+)",
        "[0-9][0-9][0-9]"}},
  };
  const auto found = std::find_if(kKnown.begin(), kKnown.end(),
                                  [&](const auto& known) { return known.name == name; });
  return found == kKnown.end() ? nullptr : &*found;
}

// Values of tokenizer.ggml.token_type.
enum class TokenType : i64 { normal = 1, unknown, control, user_defined, unused, byte };

class Metadata {
 public:
  Metadata(const Json& metadata, const std::string& path) : fields_(metadata, path) {}

  TextFiles load() {
    const std::string& model = fields_.text(key("model"));
    if (model != "gpt2" && model != "llama") {
      fail<FormatError>(
          "{} is {}, but only gpt2 (byte-level BPE) and llama (SentencePiece BPE) are "
          "understood",
          fields_.at(key("model")), model);
    }
    TokenizerParts parts;
    const std::vector<TokenType> types = read_vocabulary(parts);
    if (model == "gpt2") {
      read_merges(parts);
      read_bos_eos(read_pre_tokenizer(parts), parts);
    } else {
      read_sentence_piece(types, parts);
      read_bos_eos(true, parts);
    }
    TextFiles out;
    out.special = {piece(parts, "bos_token_id"), piece(parts, "eos_token_id"),
                   piece(parts, "unknown_token_id"), piece(parts, "padding_token_id")};
    for (const char* name : {"eos_token_id", "eot_token_id"}) {
      const auto id = token_id(parts, name);
      if (id && std::find(out.eos_ids.begin(), out.eos_ids.end(), *id) == out.eos_ids.end())
        out.eos_ids.push_back(*id);
    }
    out.chat_template = fields_.optional_text("tokenizer.chat_template");
    out.tokenizer = std::make_unique<PipelineTokenizer>(std::move(parts));
    return out;
  }

 private:
  [[nodiscard]] static std::string key(std::string_view name) {
    return fmt::format("tokenizer.ggml.{}", name);
  }

  std::vector<TokenType> read_vocabulary(TokenizerParts& parts) const {
    const Json::Array& tokens = fields_.array(key("tokens"));
    const Json::Array& types = fields_.array(key("token_type"));
    if (types.size() != tokens.size() || tokens.size() > kMaxVocab) {
      fail<FormatError>("{} has {} elements, but tokens has {}; at most {} are understood",
                        fields_.at(key("token_type")), types.size(), tokens.size(), kMaxVocab);
    }
    std::vector<TokenType> out;
    parts.vocabulary.reserve(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::string& content = text_of(tokens[i], fields_.at(key("tokens")));
      const auto id = static_cast<i32>(i);
      parts.vocabulary.push_back({content, id});
      const auto type =
          static_cast<TokenType>(integer_of(types[i], 1, 6, fields_.at(key("token_type"))));
      const bool special = type == TokenType::control || type == TokenType::unknown;
      if (special || type == TokenType::user_defined)
        parts.added.push_back({.content = content, .id = id, .special = special});
      out.push_back(type);
    }
    std::unordered_set<std::string_view> seen;
    for (const auto& [content, id] : parts.vocabulary) {
      if (!seen.insert(content).second)
        fail<FormatError>("{} has \"{}\" twice", fields_.at(key("tokens")), content);
    }
    return out;
  }

  // SentencePiece: scores instead of merges, blanks as U+2581, one of them before the text, bytes
  // for characters without a piece.
  void read_sentence_piece(const std::vector<TokenType>& types, TokenizerParts& parts) const {
    const Json::Array& json = fields_.array(key("scores"));
    if (json.size() != types.size()) {
      fail<FormatError>("{} has {} elements, but tokens has {}", fields_.at(key("scores")),
                        json.size(), types.size());
    }
    std::vector<VocabEntry> mergeable;
    std::vector<double> scores;
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!json[i].is_number() || std::isnan(json[i].as_double()))
        fail<FormatError>("{}[{}] should be a number", fields_.at(key("scores")), i);
      if (types[i] != TokenType::normal) continue;
      mergeable.push_back(parts.vocabulary[i]);
      scores.push_back(json[i].as_double());
    }
    parts.merges = merges_of_scores(mergeable, scores);
    const auto unk = token_id(parts, "unknown_token_id");
    parts.bpe = {.byte_fallback = true, .fuse_unk = true, .unk = unk};
    const bool has_prefix = fields_.flag(key("add_space_prefix"), true);
    if (has_prefix) parts.normalizer.add(Prepend{kBlank});
    parts.normalizer.add(Replace{Pattern::literal(" "), kBlank});
    std::vector<Decoder::Step> steps{ReplaceText{kBlank, " "}, ByteFallbackDecoder{}, Fuse{}};
    if (has_prefix) steps.emplace_back(Strip{" ", 1, 0});
    for (Decoder::Step& step : steps) {
      const auto refused = parts.decoder.add(std::move(step));
      STICKY_CHECK(!refused);
    }
  }

  void read_merges(TokenizerParts& parts) const {
    std::unordered_map<std::string_view, i32> ids;
    ids.reserve(parts.vocabulary.size());
    for (const auto& [content, id] : parts.vocabulary)
      ids.emplace(content, id);
    const Json::Array& merges = fields_.array(key("merges"));
    if (merges.size() > std::numeric_limits<i32>::max())
      fail<FormatError>("{} has {} elements, too many", fields_.at(key("merges")), merges.size());
    for (std::size_t i = 0; i < merges.size(); ++i) {
      const std::string_view text = text_of(merges[i], fields_.at(key("merges")));
      const auto blank = text.find(' ', 1);
      const auto id_of = [&](const std::string& content) {
        const auto found = ids.find(content);
        if (found == ids.end()) {
          fail<FormatError>("{}[{}] is \"{}\", but \"{}\" is no token", fields_.at(key("merges")),
                            i, text, content);
        }
        return found->second;
      };
      const std::string left(text.substr(0, blank));
      const std::string right(blank == std::string_view::npos ? "" : text.substr(blank + 1));
      parts.merges.push_back({id_of(left), id_of(right), static_cast<i32>(i), id_of(left + right)});
    }
  }

  /// Whether such models begin with BOS.
  bool read_pre_tokenizer(TokenizerParts& parts) const {
    const std::string name = fields_.optional_text(key("pre")).value_or("default");
    const PreTokenizerOfName* known = find_pre_tokenizer(name);
    if (known == nullptr) {
      fail<FormatError>("{} is {}, a pre-tokenizer that is not understood", fields_.at(key("pre")),
                        name);
    }
    if (known->is_nfc) parts.normalizer.add(NormalForm::nfc);
    for (const std::string_view pattern : known->patterns)
      parts.pre_tokenizer.add(SplitStep{Pattern::regex(pattern)});
    parts.bpe.byte_level = true;
    parts.bpe.ignore_merges = known->ignores_merges;
    const auto refused = parts.decoder.add(ByteLevelDecoder{});
    STICKY_CHECK(!refused);
    return known->adds_bos;
  }

  void read_bos_eos(bool adds_bos, TokenizerParts& parts) const {
    const auto bos = token_id(parts, "bos_token_id");
    const auto eos = token_id(parts, "eos_token_id");
    if (fields_.flag(key("add_bos_token"), adds_bos) && bos) parts.ids_before.push_back(*bos);
    if (fields_.flag(key("add_eos_token"), false) && eos) parts.ids_behind.push_back(*eos);
  }

  [[nodiscard]] std::optional<i32> token_id(const TokenizerParts& parts,
                                            std::string_view name) const {
    if (fields_.find(key(name)) == nullptr) return std::nullopt;
    const auto n = static_cast<i64>(parts.vocabulary.size());
    return static_cast<i32>(fields_.integer(key(name), 0, n - 1));
  }
  [[nodiscard]] std::string piece(const TokenizerParts& parts, std::string_view name) const {
    const auto id = token_id(parts, name);
    return id ? parts.vocabulary[static_cast<std::size_t>(*id)].piece : std::string();
  }

  Fields fields_;
};

}  // namespace

TextFiles load_from_gguf(const Json& metadata, const std::string& path) {
  return Metadata(metadata, path).load();
}

}  // namespace sticky::tokenizer
