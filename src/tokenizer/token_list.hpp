#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "added_tokens.hpp"
#include "bpe.hpp"

namespace sticky::tokenizer {

/// Collects added tokens from several files: no content twice, no two contents with one id.
class TokenList {
 public:
  explicit TokenList(const std::vector<VocabEntry>& vocabulary);

  /// Nothing happens when a token of that content has been added with that id. FormatError,
  /// beginning with `where`, when its content has another id, or its id another content.
  void add(AddedToken token, const std::string& where);

  [[nodiscard]] bool contains(const std::string& content) const { return added_.contains(content); }
  /// Of a piece of the vocabulary or an added token.
  [[nodiscard]] std::optional<i32> id_of(const std::string& content) const;
  [[nodiscard]] const std::string* content_of(i32 id) const;
  [[nodiscard]] std::vector<AddedToken> take() { return std::move(tokens_); }

 private:
  std::unordered_map<std::string, i32> ids_;
  std::unordered_map<i32, std::string> contents_;
  std::unordered_set<std::string> added_;
  std::vector<AddedToken> tokens_;
};

}  // namespace sticky::tokenizer
