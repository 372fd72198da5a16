// Tokenizers of GGUF files. Their metadata names the pre-tokenizer ("tokenizer.ggml.pre") where
// tokenizer.json spells it out: gguf_pre_tokenizers.hpp says what is behind a name.
// Source: the GGUF specification, "Tokenizer"; where it is silent, what llama.cpp's conversion
// writes.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "sticky/base/check.hpp"
#include "sticky/base/error.hpp"

#include "fields.hpp"
#include "gguf_pre_tokenizers.hpp"
#include "pipeline.hpp"
#include "score_merges.hpp"

namespace sticky::tokenizer {

namespace {

constexpr const char* kBlank = "\xE2\x96\x81";  // U+2581

// Values of tokenizer.ggml.token_type.
enum class TokenType : i64 { normal = 1, unknown, control, user_defined, unused, byte };

// Tokens behind a message in a chat. A file names one token that ends a text, or two, where
// generation_config.json of the same model lists these besides.
constexpr std::array<std::string_view, 5> kEndsOfTurn{"<|eot_id|>", "<|eom_id|>", "<|im_end|>",
                                                      "<|end|>", "<end_of_turn>"};

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
    const std::vector<TokenType> types = read_types();
    read_vocabulary(types, parts);
    if (model == "gpt2") {
      read_merges(parts);
      read_bos_eos(read_pre_tokenizer(parts), parts);
    } else {
      read_sentence_piece(types, parts);
      read_bos_eos(true, parts);
    }
    TextFiles out;
    out.special = {piece("bos_token_id"), piece("eos_token_id"), piece("unknown_token_id"),
                   piece("padding_token_id")};
    out.chat_template = fields_.optional_text("tokenizer.chat_template");
    out.eos_ids = eos_ids(parts, out.chat_template.value_or(""));
    out.tokenizer = std::make_unique<PipelineTokenizer>(std::move(parts));
    return out;
  }

 private:
  [[nodiscard]] static std::string key(std::string_view name) {
    return fmt::format("tokenizer.ggml.{}", name);
  }

  [[nodiscard]] const Json::Array& tokens() const { return fields_.array(key("tokens")); }

  [[nodiscard]] std::vector<TokenType> read_types() const {
    const std::size_t n = tokens().size();
    if (n > kMaxVocab) {
      fail<FormatError>("{} has {} elements, but at most {} are understood",
                        fields_.at(key("tokens")), n, kMaxVocab);
    }
    if (fields_.find(key("token_type")) == nullptr) return std::vector(n, TokenType::normal);
    const Json::Array& types = fields_.array(key("token_type"));
    if (types.size() != n) {
      fail<FormatError>("{} has {} elements, but tokens has {}", fields_.at(key("token_type")),
                        types.size(), n);
    }
    std::vector<TokenType> out;
    for (const Json& type : types)
      out.push_back(static_cast<TokenType>(integer_of(type, 1, 6, fields_.at(key("token_type")))));
    return out;
  }

  // Unused ids fill the vocabulary up to the rows of the embedding: no text has them.
  void read_vocabulary(const std::vector<TokenType>& types, TokenizerParts& parts) const {
    parts.vocabulary.reserve(types.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::string& content = text_of(tokens()[i], fields_.at(key("tokens")));
      if (types[i] == TokenType::unused) continue;
      const auto id = static_cast<i32>(i);
      parts.vocabulary.push_back({content, id});
      const bool special = types[i] == TokenType::control || types[i] == TokenType::unknown;
      if (!special && types[i] != TokenType::user_defined) continue;
      parts.added.push_back({.content = content,
                             .id = id,
                             .rstrip = special && takes_blanks_behind(content),
                             .special = special});
    }
    std::unordered_set<std::string_view> seen;
    for (const auto& [content, id] : parts.vocabulary) {
      if (!seen.insert(content).second)
        fail<FormatError>("{} has \"{}\" twice", fields_.at(key("tokens")), content);
    }
  }

  // The tokens of Phi-3's chats swallow white space behind them, which no metadata tells.
  [[nodiscard]] bool takes_blanks_behind(std::string_view control) const {
    return fields_.optional_text("general.architecture") == "phi3" &&
           fields_.text(key("model")) == "llama" && control != "<unk>" && control != "<s>" &&
           control != "<|endoftext|>";
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
      mergeable.push_back({tokens()[i].as_string(), static_cast<i32>(i)});
      scores.push_back(json[i].as_double());
    }
    parts.merges = merges_of_scores(mergeable, scores);
    auto unk = token_id("unknown_token_id");
    const auto unknown = std::ranges::find(types, TokenType::unknown);
    if (!unk && unknown != types.end()) unk = static_cast<i32>(unknown - types.begin());
    parts.bpe = {.byte_fallback = true, .fuse_unk = true, .unk = unk};
    const bool has_prefix = fields_.flag(key("add_space_prefix"), true);
    if (has_prefix) parts.normalizer.add(Prepend{kBlank});
    parts.normalizer.add(Replace{Pattern::literal(" "), kBlank});
    parts.decoder.add(ReplaceText{kBlank, " "});
    parts.decoder.add(ByteFallbackDecoder{});
    parts.decoder.add(Fuse{});
    if (has_prefix) parts.decoder.add(Strip{" ", 1, 0});
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
    parts.decoder.add(ByteLevelDecoder{});
    return known->adds_bos;
  }

  void read_bos_eos(bool adds_bos, TokenizerParts& parts) const {
    const auto bos = token_id("bos_token_id");
    const auto eos = token_id("eos_token_id");
    if (fields_.flag(key("add_bos_token"), adds_bos) && bos) parts.ids_before.push_back(*bos);
    if (fields_.flag(key("add_eos_token"), false) && eos) parts.ids_behind.push_back(*eos);
  }

  [[nodiscard]] std::vector<i32> eos_ids(const TokenizerParts& parts,
                                         std::string_view chat_template) const {
    std::vector<i32> out;
    const auto add = [&](i32 id) {
      if (std::ranges::count(out, id) == 0) out.push_back(id);
    };
    for (const char* name : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
      if (const auto id = token_id(name)) add(*id);
    }
    for (const AddedToken& token : parts.added) {
      if (token.special && std::ranges::count(kEndsOfTurn, token.content) > 0 &&
          chat_template.find(token.content) != std::string_view::npos)
        add(token.id);
    }
    return out;
  }

  [[nodiscard]] std::optional<i32> token_id(std::string_view name) const {
    if (fields_.find(key(name)) == nullptr) return std::nullopt;
    const auto n = static_cast<i64>(tokens().size());
    return static_cast<i32>(fields_.integer(key(name), 0, n - 1));
  }
  [[nodiscard]] std::string piece(std::string_view name) const {
    const auto id = token_id(name);
    return id ? tokens()[static_cast<std::size_t>(*id)].as_string() : std::string();
  }

  Fields fields_;
};

}  // namespace

TextFiles load_from_gguf(const Json& metadata, const std::string& path) {
  return Metadata(metadata, path).load();
}

}  // namespace sticky::tokenizer
