#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/tokenizer/tokenizer.hpp"

#include "regex.hpp"

namespace sticky::tokenizer {

/// What normalizers, pre-tokenizers and decoders look for: a fixed text or a regular expression.
class Pattern {
 public:
  [[nodiscard]] static Pattern literal(std::string text);  ///< not empty
  [[nodiscard]] static Pattern regex(std::string_view source);

  /// The next match at or after `from`. A match of no characters just behind `last_end`, the end of
  /// the match before, does not count (as Rust's regex iterators have it); -1: there was none.
  [[nodiscard]] std::optional<ByteRange> next(std::string_view subject,
                                              i64 from,
                                              i64 last_end,
                                              MatchSpace& space) const;
  /// Appends `subject` with every match replaced.
  void replace_all(std::string_view subject,
                   std::string_view replacement,
                   MatchSpace& space,
                   std::string& out) const;

 private:
  std::string literal_;
  std::optional<Regex> regex_;
};

/// What becomes of the matches when a text is split at them.
enum class SplitBehavior : unsigned char {
  removed,
  isolated,
  merged_with_previous,
  merged_with_next,
  contiguous
};

/// Splits `subject`; appends the parts that are not empty to out, as ranges of a text in which
/// subject begins at byte `base`. Source: NormalizedString::split of the Hugging Face tokenizers.
/// invert: what lies between the matches counts as match.
struct Split {
  const Pattern* pattern = nullptr;
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;

  void apply(std::string_view subject,
             i64 base,
             MatchSpace& space,
             std::vector<ByteRange>& out) const;
};

/// Collects the parts of a text one after the other and joins or drops them by the behaviour.
class PartCollector {
 public:
  PartCollector(SplitBehavior behavior, std::vector<ByteRange>& out)
      : behavior_(behavior),
        out_(&out) {}
  void add(ByteRange part, bool is_match);

 private:
  SplitBehavior behavior_;
  std::vector<ByteRange>* out_;
  bool before_is_match_ = false;
  bool can_grow_ = false;  // the part before stands at the end of *out_
};

}  // namespace sticky::tokenizer
