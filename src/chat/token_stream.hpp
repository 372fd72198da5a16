#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "context.hpp"
#include "lexer.hpp"

namespace sticky::chat {

/// The tokens of a template and a place in them.
class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  [[nodiscard]] const Token& now() const { return tokens_[at_]; }
  [[nodiscard]] i64 line() const { return now().line; }
  [[nodiscard]] bool is(Token::Kind kind) const { return now().kind == kind; }
  [[nodiscard]] bool is(Token::Kind kind, std::string_view text) const {
    return is(kind) && now().text == text;
  }
  [[nodiscard]] bool is_symbol(std::string_view text) const {
    return is(Token::Kind::symbol, text);
  }
  [[nodiscard]] bool is_name(std::string_view text) const { return is(Token::Kind::name, text); }
  /// The token behind the present one.
  [[nodiscard]] const Token& behind() const {
    return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_];
  }

  /// The token taken last.
  [[nodiscard]] const Token& before() const { return tokens_[at_ == 0 ? 0 : at_ - 1]; }

  Token take() {
    Token token = now();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool skip_symbol(std::string_view text) { return skip_if(is_symbol(text)); }
  bool skip_name(std::string_view text) { return skip_if(is_name(text)); }
  Token expect(Token::Kind kind, std::string_view what) {
    if (!is(kind)) fail_unexpected(what);
    return take();
  }
  void expect_symbol(std::string_view text) {
    if (!skip_symbol(text)) fail_unexpected(text);
  }

  [[nodiscard]] std::size_t position() const { return at_; }
  /// Whether the name stands between `from` and the present token.
  [[nodiscard]] bool mentioned_since(std::size_t from, std::string_view name) const {
    for (std::size_t i = from; i < at_; ++i) {
      if (tokens_[i].kind == Token::Kind::name && tokens_[i].text == name) return true;
    }
    return false;
  }

  [[noreturn]] void fail(std::string_view text) const { fail_at(line(), text); }
  [[noreturn]] void fail_unexpected(std::string_view wanted) const {
    fail(fmt::format("found {}, expected {}", describe(now()), wanted));
  }

  i64 depth = 0;  ///< of nested expressions and blocks

 private:
  static std::string describe(const Token& token) {
    switch (token.kind) {
      case Token::Kind::text:
        return "text";
      case Token::Kind::expression_begin:
        return "'{{'";
      case Token::Kind::expression_end:
        return "'}}'";
      case Token::Kind::block_begin:
        return "'{%'";
      case Token::Kind::block_end:
        return "'%}'";
      case Token::Kind::end:
        return "the end of the template";
      default:
        return fmt::format("'{}'", token.text);
    }
  }
  bool skip_if(bool is_it) {
    if (is_it) take();
    return is_it;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

/// One level of nesting for the life of the object. TemplateError beyond kMost: the parser and what
/// walks its tree are recursive.
class Level {
 public:
  explicit Level(TokenStream& tokens) : tokens_(tokens) {
    if (tokens_.depth == kMost) tokens_.fail(fmt::format("nested deeper than {} levels", kMost));
    ++tokens_.depth;
  }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  ~Level() { --tokens_.depth; }

 private:
  static constexpr i64 kMost = 200;
  TokenStream& tokens_;
};

}  // namespace sticky::chat
