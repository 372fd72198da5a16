#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pattern.hpp"

namespace sticky::tokenizer {

/// A text on its way to the model: cut into pieces, none of them empty.
struct Pieces {
  std::string_view text;          ///< what the ranges refer to
  std::string storage;            ///< its bytes, once a step had to rewrite it
  std::vector<ByteRange> ranges;  ///< ascending, disjoint
  bool begins_text = false;       ///< byte 0 is the first byte of what encode() was given
};

struct SplitStep {
  Pattern pattern;
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;
};
/// Splits at the characters that have a property (Digits, Punctuation …).
struct CharacterStep {
  bool (*has_it)(char32_t code_point) = nullptr;
  SplitBehavior behavior = SplitBehavior::isolated;
};
/// Runs of word characters and runs of others; white space goes.
struct WordsStep {};
/// Cuts and writes bytes as characters. The last step leaves that to the model, which takes bytes
/// as they are (Bpe::Options::byte_level).
struct ByteLevelStep {
  bool add_prefix_space = false;
  std::optional<Pattern> words;  ///< GPT-2's regular expression, where it is used
  bool writes_characters = false;
};
enum class PrependScheme : unsigned char { always, first, never };
struct MetaspaceStep {
  std::string replacement;  ///< one character, for each blank
  PrependScheme prepend = PrependScheme::always;
  std::optional<Pattern> split;  ///< the replacement, where pieces begin at it
};

/// The regular expression of GPT-2's encoder.
inline constexpr std::string_view kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// The pre-tokenizers of a tokenizer, in their order.
class PreTokenizer {
 public:
  using Step = std::variant<SplitStep, CharacterStep, WordsStep, ByteLevelStep, MetaspaceStep>;

  void add(Step step) {
    if (ends_in_bytes()) std::get<ByteLevelStep>(steps_.back()).writes_characters = true;
    steps_.push_back(std::move(step));
  }
  /// Whether the last step is ByteLevel.
  [[nodiscard]] bool ends_in_bytes() const {
    return !steps_.empty() && std::holds_alternative<ByteLevelStep>(steps_.back());
  }
  void apply(Pieces& pieces, MatchSpace& space) const;

 private:
  std::vector<Step> steps_;
};

}  // namespace sticky::tokenizer
