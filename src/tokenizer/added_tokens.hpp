#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "normalizer.hpp"

namespace sticky::tokenizer {

/// A token that is looked for in the text before anything else is done with it.
struct AddedToken {
  std::string content;
  i32 id = 0;
  bool single_word = false;  ///< not next to a word character
  bool lstrip = false;       ///< swallows white space on its left
  bool rstrip = false;       ///< and on its right
  bool normalized = false;   ///< looked for in the normalised text, in normalised form
  bool special = false;
  std::string decoded = {};  ///< what it is before decoding; AddedTokens fills it
};

/// The longest of many strings that a text has at some place.
class StringSet {
 public:
  StringSet() : nodes_(1) {}
  void insert(std::string_view text, i64 value);

  struct Found {
    i64 first = 0;
    i64 n = 0;
    i64 value = 0;
  };
  /// The leftmost match at or after `from`, of several there the longest, among those that
  /// `accepts` takes. Time: length of the text times that of the longest string at worst.
  template <class Accepts>
  [[nodiscard]] std::optional<Found> find(std::string_view text, i64 from, Accepts accepts) const {
    for (i64 first = from; first < static_cast<i64>(text.size()); ++first) {
      if (!begins_[static_cast<unsigned char>(text[static_cast<std::size_t>(first)])]) continue;
      std::optional<Found> longest;
      i64 node = 0;
      for (i64 at = first; at < static_cast<i64>(text.size()); ++at) {
        node = child(node, text[static_cast<std::size_t>(at)]);
        if (node < 0) break;
        const i64 value = nodes_[static_cast<std::size_t>(node)].value;
        const Found found{first, at + 1 - first, value};
        if (value >= 0 && accepts(found)) longest = found;
      }
      if (longest) return longest;
    }
    return std::nullopt;
  }

 private:
  struct Node {
    std::vector<std::pair<char, i64>> children;
    i64 value = -1;
  };
  [[nodiscard]] i64 child(i64 node, char c) const;

  std::vector<Node> nodes_;
  std::array<bool, 256> begins_{};  // bytes that some string begins with
};

/// Which special tokens count.
struct Recognition {
  bool special = true;
  std::span<const ByteRange> content;  ///< they do not where they share a byte with these
};

/// A part of a text: an added token, or what stands between two.
struct Segment {
  ByteRange range;
  i32 id = -1;  ///< -1: text
};

/// All added tokens of a tokenizer. Source: AddedVocabulary of the Hugging Face tokenizers, but a
/// token that does not count (Recognition) hides no other.
class AddedTokens {
 public:
  AddedTokens() = default;
  AddedTokens(std::vector<AddedToken> tokens, const Normalizer& normalizer);

  /// Cuts a text before it is normalised.
  void cut_raw(std::string_view text,
               const Recognition& recognition,
               std::vector<Segment>& out) const;
  /// Cuts a part of it after; `base`: its first byte in the text that recognition.content speaks
  /// of.
  void cut_normalized(std::string_view text,
                      i64 base,
                      const Recognition& recognition,
                      std::vector<Segment>& out) const;

  [[nodiscard]] const std::vector<AddedToken>& tokens() const { return tokens_; }

 private:
  using Accepts = std::function<bool(const AddedToken&, ByteRange)>;
  void cut(std::string_view text,
           const StringSet& set,
           const Accepts& accepts,
           std::vector<Segment>& out) const;
  // Positions in normalised text say nothing about content. Then special tokens are looked for in
  // the text as it was written.
  [[nodiscard]] bool is_raw(const AddedToken& token, const Recognition& recognition) const {
    return !token.normalized ||
           (token.special && !keeps_positions_ && !recognition.content.empty());
  }

  std::vector<AddedToken> tokens_;
  StringSet raw_;         // all, as they are written
  StringSet normalized_;  // those that are looked for in normalised text
  bool has_normalized_ = false;
  bool keeps_positions_ = true;  // there is no normalizer
};

}  // namespace sticky::tokenizer
