#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sticky/tokenizer/tokenizer.hpp"

#include "pattern.hpp"

namespace sticky::tokenizer {

struct ReplaceText {
  std::string from;  ///< not empty
  std::string to;
};
struct ReplaceMatches {
  Pattern from;
  std::string to;
};
/// Takes up to `start` characters `content` from the front and up to `stop` from the back.
struct Strip {
  std::string content;  ///< one character
  i64 start = 0;
  i64 stop = 0;
};
struct MetaspaceDecoder {
  std::string replacement;
  bool drops_in_first = false;  ///< the first token loses it instead of getting blanks
};
struct ByteLevelDecoder {};
struct ByteFallbackDecoder {};
struct Fuse {};

/// From pieces back to text. Source: the decoders of the Hugging Face tokenizers, which work on the
/// whole list of tokens; this one takes them one by one and gives the same, for the orders that
/// tokenizers use:
///   steps on single tokens (Replace, Strip, Metaspace) · ByteFallback or ByteLevel · the same
///   steps again · Fuse · Strip at the start of the whole text.
/// With a ReplaceMatches, or of any other order (Replace behind Fuse …), the text comes at the end,
/// all at once.
class Decoder {
 public:
  using Step = std::variant<ReplaceText,
                            ReplaceMatches,
                            Strip,
                            MetaspaceDecoder,
                            ByteLevelDecoder,
                            ByteFallbackDecoder,
                            Fuse>;

  void add(Step step);

  /// A piece after the steps on single tokens before ByteFallback, as a token that is not the
  /// first.
  struct Decoded {
    std::string bytes;
    bool is_byte = false;  ///< <0xHH>: one byte of a character
  };
  [[nodiscard]] Decoded decode_piece(std::string_view piece, bool is_first) const;
  /// Whether the first token of a text is decoded in another way than the others.
  [[nodiscard]] bool differs_at_start() const;

  void next(DecodeState& state,
            std::string_view piece,
            const Decoded& token,
            std::string& out) const;
  void end(DecodeState& state, std::string& out) const;

 private:
  using TokenStep = std::variant<ReplaceText, Strip, MetaspaceDecoder, ByteLevelDecoder>;
  [[nodiscard]] bool takes_in_stride(const Step& step);
  void decode_whole(std::vector<std::string> tokens, std::string& out) const;
  void end_bytes(DecodeState& state, std::string& out) const;
  void emit(DecodeState& state, std::string_view token, std::string& out) const;
  void write(DecodeState& state, std::string_view text, std::string& out) const;

  std::vector<Step> steps_;        // all of them, where `holds_`
  std::vector<TokenStep> before_;  // before ByteFallback, if there is one
  std::vector<TokenStep> behind_;  // behind it
  bool has_steps_ = false;
  bool holds_ = false;  // the order is one that needs all tokens
  bool has_byte_fallback_ = false;
  bool is_fused_ = false;
  bool gives_bytes_ = false;       // ByteLevel: tokens are bytes, not characters
  std::optional<Strip> at_start_;  // of the whole text
};

}  // namespace sticky::tokenizer
