#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pattern.hpp"
#include "unicode.hpp"

namespace sticky::tokenizer {

struct Prepend {
  std::string text;  ///< before every text that is not empty
};
struct Replace {
  Pattern pattern;
  std::string content;
};

struct Lowercase {};
/// White space off the ends.
struct StripEnds {
  bool left = true;
  bool right = true;
};
struct StripAccents {};  ///< general category M
/// Source: BasicTokenizer of BERT.
struct BertNormalizer {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = false;
  bool lowercase = true;
};
/// Bytes written as characters (byte_alphabet.hpp).
struct BytesAsCharacters {};

/// The normalizers of a tokenizer, in their order. None: the text stays as it is.
class Normalizer {
 public:
  using Step = std::variant<NormalForm,
                            Prepend,
                            Replace,
                            Lowercase,
                            StripEnds,
                            StripAccents,
                            BertNormalizer,
                            BytesAsCharacters>;

  void add(Step step);
  [[nodiscard]] bool is_identity() const { return steps_.empty(); }

  /// The normalised text: `text` itself where nothing changes, else a view into `storage`.
  [[nodiscard]] std::string_view apply(std::string_view text,
                                       MatchSpace& space,
                                       std::string& storage) const;

 private:
  std::vector<Step> steps_;
};

}  // namespace sticky::tokenizer
