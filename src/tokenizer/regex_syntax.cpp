// Oniguruma (Ruby syntax) to PCRE2. Both agree on most of what tokenizers use; this walk knows
// where they do not, and refuses what it does not know.

#include <cctype>

#include "sticky/base/error.hpp"

#include "regex.hpp"

namespace sticky::tokenizer {

namespace {

// \w of Oniguruma in Unicode: PCRE2's own lacks marks and takes all of N.
constexpr std::string_view kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

class Translation {
 public:
  explicit Translation(std::string_view pattern) : pattern_(pattern) {}

  std::string take() {
    while (at_ < pattern_.size())
      step();
    if (in_class_) refuse("an unclosed [");
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail<FormatError>("the pattern \"{}\" uses {}, which is not understood", pattern_, what);
  }
  [[nodiscard]] char peek(std::size_t n = 0) const {
    return at_ + n < pattern_.size() ? pattern_[at_ + n] : '\0';
  }
  void copy(std::size_t n) {
    out_ += pattern_.substr(at_, n);
    at_ += n;
  }
  void replace(std::size_t n, std::string_view by) {
    out_ += by;
    at_ += n;
  }

  void step() {
    if (peek() == '\\') return escape();
    if (in_class_) return class_character();
    switch (peek()) {
      case '[':
        return open_class();
      case '(':
        return group();
      case '{':
        return repeat();
      default:
        return copy(1);
    }
  }

  void open_class() {
    in_class_ = true;
    copy(peek(1) == '^' ? 2 : 1);
    if (peek() == ']') refuse("a ] at the start of a set");
  }

  void class_character() {
    if (peek() == ']') in_class_ = false;
    if (peek() == '[') refuse("a [ within a set");
    if (peek() == '&' && peek(1) == '&') refuse("&& within a set");
    copy(1);
  }

  void group() {
    if (peek(1) != '?') return copy(1);
    for (const std::string_view known :
         {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?i)", "(?-i:"}) {
      if (pattern_.substr(at_, known.size()) == known) return copy(known.size());
    }
    refuse(fmt::format("the group {}", pattern_.substr(at_, 4)));
  }

  // {n}, {n,}, {n,m} and, in Ruby, {,m}. A + behind them repeats them in Ruby, but makes them
  // possessive in PCRE2.
  void repeat() {
    const auto end = pattern_.find('}', at_);
    if (end == std::string_view::npos) refuse("a { without }");
    const std::string_view inner = pattern_.substr(at_ + 1, end - at_ - 1);
    if (inner.empty() || inner.find_first_not_of("0123456789,") != std::string_view::npos)
      refuse("a { that is no count");
    if (end + 1 < pattern_.size() && pattern_[end + 1] == '+') refuse("}+");
    if (inner.front() == ',') replace(1, "{0");
    copy(end + 1 - at_);
  }

  void escape() {
    const char c = peek(1);
    if (c == '\0') refuse("a \\ at the end");
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) return copy(2);
    if (is_one_of(c, "nrtfea")) return copy(2);
    if (is_one_of(c, "Az") && !in_class_) return copy(2);
    switch (c) {
      case 's':
        return replace(2, R"(\p{White_Space})");
      case 'S':
        return replace(2, R"(\P{White_Space})");
      case 'd':
        return replace(2, R"(\p{Nd})");
      case 'D':
        return replace(2, R"(\P{Nd})");
      case 'v':
        return replace(2, R"(\x0B)");
      case 'w':
        return replace(2, in_class_ ? std::string(kWord) : fmt::format("[{}]", kWord));
      case 'W':
        if (in_class_) refuse("\\W within a set");
        return replace(2, fmt::format("[^{}]", kWord));
      case 'x':
        return copy(2);
      case 'u':
        return code_point();
      case 'p':
      case 'P':
        return property();
      default:
        refuse(fmt::format("\\{}", c));
    }
  }

  void code_point() {
    const std::string_view digits = pattern_.substr(at_ + 2, 4);
    if (digits.size() != 4 ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
      refuse("\\u without four hexadecimal digits");
    replace(6, fmt::format("\\x{{{}}}", digits));
  }

  void property() {
    const auto end = pattern_.find('}', at_);
    if (peek(2) != '{' || end == std::string_view::npos) refuse("\\p without {name}");
    copy(end + 1 - at_);
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  bool in_class_ = false;
  std::string out_;
};

}  // namespace

std::string to_pcre2_syntax(std::string_view pattern) {
  return Translation(pattern).take();
}

}  // namespace sticky::tokenizer
