#include "lexer.hpp"

#include <algorithm>
#include <array>

#include "sticky/base/utf8.hpp"

#include "context.hpp"
#include "unicode.hpp"

namespace sticky::chat {

namespace {

using TokenKind = Token::Kind;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string with_plain_line_ends(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const bool is_return = source[i] == '\r';
    if (is_return && i + 1 < source.size() && source[i + 1] == '\n') ++i;
    out += is_return ? '\n' : source[i];
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(with_plain_line_ends(source)) {}

  std::vector<Token> run() {
    while (at_ < size()) {
      const i64 tag = find_tag(at_);
      const char sign = tag < size() ? peek(tag + 2) : '\0';
      take_text(tag, sign);
      if (tag >= size()) break;
      open_tag(sign);
    }
    add(TokenKind::end, {});
    return std::move(tokens_);
  }

 private:
  i64 size() const { return static_cast<i64>(source_.size()); }
  char peek(i64 at) const { return at < size() ? source_[static_cast<std::size_t>(at)] : '\0'; }
  std::string_view piece(i64 first, i64 end) const {
    return std::string_view(source_).substr(static_cast<std::size_t>(first),
                                            static_cast<std::size_t>(end - first));
  }
  bool stands_at(i64 at, std::string_view what) const {
    return at <= size() && piece(at, size()).starts_with(what);
  }
  void add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }
  void move_to(i64 at) {
    line_ += std::ranges::count(piece(at_, at), '\n');
    at_ = at;
  }

  i64 find_tag(i64 from) const {
    for (auto at = source_.find('{', static_cast<std::size_t>(from)); at != std::string::npos;
         at = source_.find('{', at + 1)) {
      const char next = peek(static_cast<i64>(at) + 1);
      if (next == '%' || next == '{' || next == '#') return static_cast<i64>(at);
    }
    return size();
  }

  // The text up to the tag, less the white space that the tag's sign or lstrip_blocks takes.
  void take_text(i64 tag, char sign) {
    i64 end = tag;
    const auto text = piece(at_, tag);
    if (tag < size() && sign == '-') {
      end = at_ + end_without_space(text, 0);
    } else if (tag < size() && sign != '+' && peek(tag + 1) != '{') {
      const auto line_end = text.rfind('\n');
      const bool begins_line = at_ == 0 || peek(at_ - 1) == '\n';
      if (line_end != std::string_view::npos || begins_line) {
        const i64 first = line_end == std::string_view::npos ? 0 : static_cast<i64>(line_end) + 1;
        if (end_without_space(text, first) == first) end = at_ + first;
      }
    }
    if (end > at_) add(TokenKind::text, std::string(piece(at_, end)));
    move_to(tag);
  }

  void open_tag(char sign) {
    const bool has_sign = sign == '-' || sign == '+';
    const i64 inside = at_ + 2 + (has_sign ? 1 : 0);
    switch (peek(at_ + 1)) {
      case '#':
        return skip_comment(inside);
      case '{':
        return take_tag(inside, TokenKind::expression_begin);
      default:
        break;
    }
    if (const i64 body = end_of_word_tag(inside, "raw", false); body >= 0) return take_raw(body);
    take_tag(inside, TokenKind::block_begin);
  }

  // Behind "%}" or "#}" at `at`, and behind what trim_blocks or the sign takes.
  i64 behind_close(i64 at, char sign) const {
    if (sign == '-') return skip_space(source_, at + 2);
    return at + 2 + (sign != '+' && peek(at + 2) == '\n' ? 1 : 0);
  }

  void skip_comment(i64 inside) {
    const auto close = source_.find("#}", static_cast<std::size_t>(inside));
    if (close == std::string::npos) {
      if (inside < static_cast<i64>(source_.size())) fail_at(line_, "a comment has no end '#}'");
      return move_to(inside);  // Jinja does not miss the end of a comment that has nothing in it
    }
    const i64 at = static_cast<i64>(close);
    move_to(behind_close(at, at > inside ? peek(at - 1) : '\0'));
  }

  // Behind a tag that holds this one word only, "raw" or "endraw"; -1 when it is another tag.
  i64 end_of_word_tag(i64 inside, std::string_view word, bool trims) const {
    i64 at = skip_space(source_, inside);
    if (!stands_at(at, word)) return -1;
    at = skip_space(source_, at + static_cast<i64>(word.size()));
    const char sign = peek(at);
    if (sign == '-' || (trims && sign == '+')) ++at;
    if (!stands_at(at, "%}")) return -1;
    return trims || sign == '-' ? behind_close(at, sign) : at + 2;
  }

  void take_raw(i64 body) {
    const i64 line = line_;
    move_to(body);
    for (auto at = source_.find("{%", static_cast<std::size_t>(body)); at != std::string::npos;
         at = source_.find("{%", at + 1)) {
      const i64 tag = static_cast<i64>(at);
      const char sign = peek(tag + 2);
      const i64 inside = tag + 2 + (sign == '-' || sign == '+' ? 1 : 0);
      const i64 behind = end_of_word_tag(inside, "endraw", true);
      if (behind < 0) continue;
      take_text(tag, sign);
      move_to(behind);
      return;
    }
    fail_at(line, "a raw block has no end '{% endraw %}'");
  }

  void take_tag(i64 inside, TokenKind begin) {
    add(begin, {});
    move_to(inside);
    brackets_.clear();
    while (!take_close(begin)) {
      if (at_ >= size()) fail_at(line_, "the template ends inside a tag");
      take_token();
    }
  }

  // "%}" or "}}" close the tag only outside brackets: {{ {'a': {}} }}.
  bool take_close(TokenKind begin) {
    const bool is_block = begin == TokenKind::block_begin;
    const char sign = peek(at_);
    const bool has_sign = sign == '-' || (is_block && sign == '+');
    const i64 close = at_ + (has_sign ? 1 : 0);
    if (!brackets_.empty() || !stands_at(close, is_block ? "%}" : "}}")) return false;
    add(is_block ? TokenKind::block_end : TokenKind::expression_end, {});
    if (is_block) {
      move_to(behind_close(close, has_sign ? sign : '\0'));
    } else {
      move_to(has_sign ? skip_space(source_, close + 2) : close + 2);
    }
    return true;
  }

  void take_token() {
    const char c = peek(at_);
    if (const i64 behind = skip_space(source_, at_); behind > at_) return move_to(behind);
    if (is_digit(c)) return take_number();
    if (is_letter(c)) {
      i64 end = at_;
      while (is_letter(peek(end)) || is_digit(peek(end)))
        ++end;
      return take(TokenKind::name, end);
    }
    if (c == '"' || c == '\'') return take_string(c);
    take_symbol();
  }

  void take(TokenKind kind, i64 end) {
    add(kind, std::string(piece(at_, end)));
    move_to(end);
  }

  i64 end_of_digits(i64 at) const {
    while (is_digit(peek(at)) || (peek(at) == '_' && is_digit(peek(at + 1))))
      ++at;
    return at;
  }

  void take_number() {
    i64 end = end_of_digits(at_);
    bool is_whole = true;
    const bool behind_dot = at_ > 0 && peek(at_ - 1) == '.';  // x.0.1 are two integers
    if (!behind_dot && peek(end) == '.' && is_digit(peek(end + 1))) {
      end = end_of_digits(end + 1);
      is_whole = false;
    }
    const char e = peek(end);
    const i64 sign = peek(end + 1) == '+' || peek(end + 1) == '-' ? 1 : 0;
    if (!behind_dot && (e == 'e' || e == 'E') && is_digit(peek(end + 1 + sign))) {
      end = end_of_digits(end + 1 + sign);
      is_whole = false;
    }
    std::string digits(piece(at_, end));
    std::erase(digits, '_');
    add(is_whole ? TokenKind::integer : TokenKind::number, std::move(digits));
    move_to(end);
  }

  void take_string(char quote) {
    i64 end = at_ + 1;
    while (end < size() && peek(end) != quote)
      end += peek(end) == '\\' ? 2 : 1;
    if (end >= size()) fail_at(line_, "a string has no closing quote");
    add(TokenKind::string, resolve_escapes(piece(at_ + 1, end), line_));
    move_to(end + 1);
  }

  void take_symbol() {
    static constexpr std::array<std::string_view, 6> kDouble = {"//", "**", "==", "!=", ">=", "<="};
    const char c = peek(at_);
    for (const auto two : kDouble) {
      if (stands_at(at_, two)) return take(TokenKind::symbol, at_ + 2);
    }
    if (std::string_view("+-/*%~[](){}><=.:|,;").find(c) == std::string_view::npos)
      fail_at(line_, fmt::format("unexpected character '{}'", c));
    balance(c);
    take(TokenKind::symbol, at_ + 1);
  }

  void balance(char c) {
    static constexpr std::string_view kOpen = "([{";
    static constexpr std::string_view kClose = ")]}";
    if (kOpen.find(c) != std::string_view::npos) brackets_ += c;
    const auto which = kClose.find(c);
    if (which == std::string_view::npos) return;
    if (brackets_.empty() || brackets_.back() != kOpen[which])
      fail_at(line_, fmt::format("unexpected '{}'", c));
    brackets_.pop_back();
  }

  std::string source_;
  i64 at_ = 0;
  i64 line_ = 1;
  std::string brackets_;  // open in the present tag
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> cut_into_tokens(std::string_view source) {
  if (const i64 at = utf8::first_invalid(source); at >= 0)
    fail_at(1, fmt::format("not UTF-8 at byte {}", at));
  return Lexer(source).run();
}

}  // namespace sticky::chat
