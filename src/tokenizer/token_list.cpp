#include "token_list.hpp"

#include "sticky/base/error.hpp"

namespace sticky::tokenizer {

TokenList::TokenList(const std::vector<VocabEntry>& vocabulary) {
  ids_.reserve(vocabulary.size());
  contents_.reserve(vocabulary.size());
  for (const auto& [piece, id] : vocabulary) {
    ids_.emplace(piece, id);
    contents_.emplace(id, piece);
  }
}

void TokenList::add(AddedToken token, const std::string& where) {
  if (const auto id = ids_.emplace(token.content, token.id).first->second; id != token.id) {
    fail<FormatError>("{}: the token \"{}\" has the id {}, but elsewhere {}", where, token.content,
                      token.id, id);
  }
  if (const auto& other = contents_.emplace(token.id, token.content).first->second;
      other != token.content) {
    fail<FormatError>("{}: the token \"{}\" has the id {}, which is that of \"{}\"", where,
                      token.content, token.id, other);
  }
  if (added_.insert(token.content).second) tokens_.push_back(std::move(token));
}

std::optional<i32> TokenList::id_of(const std::string& content) const {
  const auto found = ids_.find(content);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

const std::string* TokenList::content_of(i32 id) const {
  const auto found = contents_.find(id);
  return found == contents_.end() ? nullptr : &found->second;
}

}  // namespace sticky::tokenizer
