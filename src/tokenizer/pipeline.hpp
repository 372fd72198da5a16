#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sticky/tokenizer/tokenizer.hpp"

#include "added_tokens.hpp"
#include "bpe.hpp"
#include "decoder.hpp"
#include "normalizer.hpp"
#include "pre_tokenizer.hpp"

namespace sticky::tokenizer {

/// Ids are below this. The largest vocabularies in use have 262,208.
inline constexpr i32 kMaxVocab = 1 << 22;

/// What a tokenizer is made of, as read from its files.
struct TokenizerParts {
  std::vector<VocabEntry> vocabulary;  ///< each piece and each id once
  std::vector<BpeMerge> merges;
  Bpe::Options bpe;
  std::vector<AddedToken> added;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  Decoder decoder;
  std::vector<i32> ids_before;  ///< what add_special_tokens puts before a text
  std::vector<i32> ids_behind;  ///< and behind it
};

/// Added tokens, normalizer, pre-tokenizer, model, post-processor; and back through the decoder.
class PipelineTokenizer final : public Tokenizer {
 public:
  explicit PipelineTokenizer(TokenizerParts parts);
  ~PipelineTokenizer() override;

  [[nodiscard]] std::vector<i32> encode(std::string_view text,
                                        const EncodeOptions& options) const override;
  [[nodiscard]] std::vector<i32> encode_with_content(std::string_view text,
                                                     std::span<const ByteRange> content,
                                                     const EncodeOptions& options) const override;
  [[nodiscard]] std::string piece(i32 id) const override;
  [[nodiscard]] std::string decode(std::span<const i32> ids, bool skip_special) const override;
  void decode_next(DecodeState& state, i32 id, bool skip_special, std::string& out) const override;
  void decode_end(DecodeState& state, std::string& out) const override;
  [[nodiscard]] i64 vocab_size() const override { return static_cast<i64>(entries_.size()); }
  [[nodiscard]] std::optional<i32> id_of(std::string_view piece) const override;
  [[nodiscard]] bool is_special(i32 id) const override;

 private:
  struct Entry {
    std::string piece;  // as the vocabulary writes it; of an added token what is decoded
    Decoder::Decoded decoded;
    bool exists = false;
    bool is_special = false;
    bool is_skipped = false;  // its piece is the content of a special token
  };
  struct Space;  // working memory of one encode()

  // Borrows a Space for as long as it lives. They are kept, with the words they have learnt, so
  // that threads neither wait for each other nor begin anew.
  class Borrowed;

  void add_entry(const std::string& content, i32 id, const std::string& piece);
  [[nodiscard]] const Entry* entry(i32 id) const;
  void encode_text(std::string_view text,
                   ByteRange range,
                   const Recognition& recognition,
                   Space& space,
                   std::vector<i32>& ids) const;

  Normalizer normalizer_;
  AddedTokens added_;
  PreTokenizer pre_tokenizer_;
  Bpe bpe_;
  Decoder decoder_;
  std::vector<i32> ids_before_;
  std::vector<i32> ids_behind_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, i32> ids_;
  mutable std::mutex spaces_mutex_;
  mutable std::vector<std::unique_ptr<Space>> spaces_;  // those that nobody uses now
};

}  // namespace sticky::tokenizer
