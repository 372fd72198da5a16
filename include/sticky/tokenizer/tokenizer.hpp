#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"

namespace sticky::tokenizer {

struct EncodeOptions {
  bool add_special_tokens = false;     ///< what the post-processor adds: BOS, EOS
  bool special_tokens_in_text = true;  ///< "<|im_end|>" in the text is that token, as HF does
};

/// Part of a text: bytes first … first + n - 1.
struct ByteRange {
  i64 first = 0;
  i64 n = 0;
};

/// What decoding has to remember between two tokens. Starts empty; one for each list of tokens.
struct DecodeState {
  bool at_start = true;           ///< no token has been written yet
  i64 n_stripped = 0;             ///< blanks taken from the start of the text; -1 when that is over
  std::string pending;            ///< bytes that are not yet known to be characters
  std::vector<std::string> held;  ///< tokens, where only all of them together can be decoded
};

/// Text to token ids and back, as the Hugging Face tokenizer of the same files does. Immutable;
/// usable from several threads at once. Text that is not UTF-8: each maximal invalid subpart
/// becomes U+FFFD first. Time is linear in the length of the text.
class Tokenizer {
 public:
  Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  virtual ~Tokenizer() = default;

  [[nodiscard]] virtual std::vector<i32> encode(std::string_view text,
                                                const EncodeOptions& options) const = 0;
  /// The same, but special tokens are not recognised where they share a byte with one of the
  /// `content` ranges (ascending, disjoint): what a user wrote stays text, what a chat template
  /// wrote may be control tokens. All else is as encode() has it: nothing is cut at the border of a
  /// range, and added tokens that are not special are recognised everywhere.
  [[nodiscard]] virtual std::vector<i32> encode_with_content(
      std::string_view text,
      std::span<const ByteRange> content,
      const EncodeOptions& options) const = 0;

  /// The bytes that one token stands for, before they are joined to UTF-8 text; empty for an id
  /// without a piece. The first token of a text may lose a leading blank (SentencePiece): decode()
  /// knows.
  [[nodiscard]] virtual std::string piece(i32 id) const = 0;
  /// Valid UTF-8 always: bytes that make no character become U+FFFD.
  [[nodiscard]] virtual std::string decode(std::span<const i32> ids, bool skip_special) const = 0;
  /// decode() token by token: what all these calls and one decode_end() append to out is what
  /// decode() gives. Unless overridden: the pieces, joined, as UTF-8.
  virtual void decode_next(DecodeState& state, i32 id, bool skip_special, std::string& out) const;
  virtual void decode_end(DecodeState& state, std::string& out) const;

  [[nodiscard]] virtual i64 vocab_size() const = 0;  ///< highest id + 1, added tokens included
  [[nodiscard]] virtual std::optional<i32> id_of(std::string_view piece) const = 0;
  [[nodiscard]] virtual bool is_special(i32 id) const = 0;
};

/// Decodes a growing list of tokens. All that push() and finish() give, joined, equals decode() of
/// all tokens; push() never gives half a character, and U+FFFD only for bytes that can no longer
/// become one.
class StreamDecoder {
 public:
  StreamDecoder(const Tokenizer& tokenizer, bool skip_special);
  [[nodiscard]] std::string push(i32 id);
  [[nodiscard]] std::string finish();

 private:
  const Tokenizer* tokenizer_;
  bool skip_special_;
  DecodeState state_;
};

/// Special tokens of a model, as text: what chat templates call bos_token and so on. Empty where
/// there is none.
struct SpecialTokens {
  std::string bos;
  std::string eos;
  std::string unk;
  std::string pad;
};

/// What stands beside a model's weights for text: the tokenizer, the chat template and special
/// tokens.
struct TextFiles {
  std::unique_ptr<Tokenizer> tokenizer;
  SpecialTokens special;
  std::optional<std::string> chat_template;  ///< Jinja source, where the model has one
  std::vector<i32> eos_ids;                  ///< as far as the tokenizer's files tell
};

/// Reads tokenizer.json, tokenizer_config.json, special_tokens_map.json, chat_template.jinja of a
/// folder (weights may be missing). SystemError when tokenizer.json cannot be read; FormatError
/// names file and component when something in a file is wrong or not understood: never a guess.
[[nodiscard]] TextFiles load_from_folder(const std::string& folder);
/// The same from the metadata of a GGUF file (checkpoint::Checkpoint::config()); `path` is its name
/// in errors. Byte-level BPE ("gpt2") with a pre-tokenizer whose name is known, and SentencePiece
/// BPE ("llama"); FormatError names any other.
[[nodiscard]] TextFiles load_from_gguf(const Json& metadata, const std::string& path);

}  // namespace sticky::tokenizer
