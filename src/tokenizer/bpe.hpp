#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "pair_table.hpp"
#include "word_cache.hpp"

namespace sticky::tokenizer {

struct VocabEntry {
  std::string piece;
  i32 id = 0;
};

/// Two neighbours become one; lower ranks first.
struct BpeMerge {
  i32 left = 0;
  i32 right = 0;
  i32 rank = 0;
  i32 id = 0;
};

/// Working memory of Bpe::encode; one for each thread at a time.
class BpeSpace {
 private:
  friend class Bpe;
  struct Symbol {
    i32 id;  // kGone once its left neighbour has swallowed it
    i32 before;
    i32 behind;
  };
  std::vector<Symbol> symbols_;
  std::vector<std::uint64_t> heap_;  // candidates: rank, then place, lowest on top
  WordCache words_;
};

/// Byte-pair encoding: a word's characters, joined pair by pair, always the pair of lowest rank and
/// among equals the leftmost. Source: Sennrich et al. 2016; details (unknown characters, byte
/// fallback) as the BPE model of the Hugging Face tokenizers. n log n in the length of the word.
class Bpe {
 public:
  struct Options {
    bool byte_level = false;     ///< the vocabulary writes bytes as characters (byte_alphabet.hpp)
    bool byte_fallback = false;  ///< a character without a piece becomes <0xHH> for its bytes
    bool fuse_unk = false;       ///< neighbouring unknown characters become one unknown token
    bool ignore_merges = false;  ///< a word that is a piece is that piece, whatever its merges
    std::optional<i32> unk;      ///< for characters without a piece; none: they are dropped
  };
  Bpe(const std::vector<VocabEntry>& vocabulary,
      const std::vector<BpeMerge>& merges,
      const Options& options);

  /// Appends the ids of one word (well-formed UTF-8; with byte_level any bytes). Error when it
  /// has more than 2^31 - 1 bytes.
  void encode(std::string_view word, BpeSpace& space, std::vector<i32>& ids) const;

 private:
  void find_joined(const std::vector<VocabEntry>& vocabulary, const std::vector<BpeMerge>& merges);
  void encode_uncut(std::string_view word, BpeSpace& space, std::vector<i32>& ids) const;
  void start(std::string_view word, BpeSpace& space) const;
  void add_unknown(std::string_view character, bool& is_pending, BpeSpace& space) const;
  void merge_all(BpeSpace& space) const;
  void offer(i32 left, BpeSpace& space) const;

  Options options_;
  PairTable merges_;
  std::array<i32, 256> byte_ids_;      // byte_level: the piece of each byte, -1 for none
  std::array<i32, 256> fallback_ids_;  // <0xHH>, -1 for none
  std::unordered_map<char32_t, i32> character_ids_;
  std::unordered_map<std::string, i32> words_;  // ignore_merges only
  // Whole texts come as one word from SentencePiece-like tokenizers. Between a character and a
  // blank (U+2581) that no merge joins, the word can be cut without changing its ids.
  bool cuts_at_blanks_ = false;
  std::unordered_set<char32_t> joined_with_blank_;  // on its left, by some merge
};

}  // namespace sticky::tokenizer
