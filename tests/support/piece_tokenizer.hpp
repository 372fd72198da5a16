#pragma once

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "sticky/base/utf8.hpp"
#include "sticky/tokenizer/tokenizer.hpp"

namespace sticky::test {

/// A tokenizer that is a list of pieces; it only decodes.
class PieceTokenizer final : public tokenizer::Tokenizer {
 public:
  explicit PieceTokenizer(std::vector<std::string> pieces, std::set<i32> special = {})
      : pieces_(std::move(pieces)),
        special_(std::move(special)) {}

  [[nodiscard]] std::vector<i32> encode(std::string_view,
                                        const tokenizer::EncodeOptions&) const override {
    throw std::logic_error("PieceTokenizer does not encode");
  }
  [[nodiscard]] std::vector<i32> encode_with_content(
      std::string_view,
      std::span<const tokenizer::ByteRange>,
      const tokenizer::EncodeOptions&) const override {
    throw std::logic_error("PieceTokenizer does not encode");
  }
  [[nodiscard]] std::string piece(i32 id) const override {
    const auto i = static_cast<std::size_t>(id);
    return i < pieces_.size() ? pieces_[i] : "";
  }
  [[nodiscard]] std::string decode(std::span<const i32> ids, bool skip_special) const override {
    std::string bytes;
    for (const i32 id : ids) {
      if (!skip_special || !is_special(id)) bytes += piece(id);
    }
    return utf8::sanitize(bytes);
  }
  [[nodiscard]] i64 vocab_size() const override { return static_cast<i64>(pieces_.size()); }
  [[nodiscard]] std::optional<i32> id_of(std::string_view text) const override {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i] == text) return static_cast<i32>(i);
    }
    return std::nullopt;
  }
  [[nodiscard]] bool is_special(i32 id) const override { return special_.contains(id); }

 private:
  std::vector<std::string> pieces_;
  std::set<i32> special_;
};

}  // namespace sticky::test
