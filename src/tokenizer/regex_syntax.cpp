// Oniguruma (Ruby syntax) to PCRE2. Both agree on most of what tokenizers use; this walk knows
// where they do not, and refuses what it does not know.

#include <cctype>
#include <vector>

#include "sticky/base/error.hpp"

#include "regex.hpp"
#include "regex_properties.hpp"

namespace sticky::tokenizer {

namespace {

constexpr std::string_view kHex = "0123456789abcdefABCDEF";
constexpr std::string_view kHexSet = "0-9A-Fa-f";

bool is_one_of(char c, std::string_view set) {
  return c != '\0' && set.find(c) != std::string_view::npos;
}

// A set in the making. PCRE2 10.42 has neither sets in sets nor intersections: what cannot be
// written as members of one set becomes an alternative or a look-ahead of one character.
class Set {
 public:
  void add(std::string_view members) { members_ += members; }
  void add_other(std::string matcher) { others_.push_back(std::move(matcher)); }
  void add_set(std::string_view members, bool is_negated) {
    if (is_negated) {
      add_other(fmt::format("[^{}]", members));
    } else {
      add(members);
    }
  }
  [[nodiscard]] bool is_empty() const { return members_.empty() && others_.empty(); }
  [[nodiscard]] bool is_plain() const { return others_.empty() && intersected_.empty(); }
  [[nodiscard]] const std::string& members() const { return members_; }

  /// && : what follows is a new union.
  void intersect() {
    intersected_.push_back(united());
    members_.clear();
    others_.clear();
  }
  /// A pattern that matches one character of the set.
  [[nodiscard]] std::string matcher(bool is_negated) const {
    if (is_plain()) return fmt::format("[{}{}]", is_negated ? "^" : "", members_);
    std::string out;
    for (const std::string& other : intersected_)
      out += fmt::format("(?={})", other);
    out += united();
    return is_negated ? fmt::format("(?>(?!{})(?s:.))", out) : fmt::format("(?>{})", out);
  }

 private:
  [[nodiscard]] std::string united() const {
    std::string out = members_.empty() ? "" : fmt::format("[{}]", members_);
    for (const std::string& other : others_)
      out += (out.empty() ? "" : "|") + other;
    return fmt::format("(?>{})", out);
  }

  std::string members_;
  std::vector<std::string> others_;
  std::vector<std::string> intersected_;
};

class Translation {
 public:
  explicit Translation(std::string_view pattern) : pattern_(pattern) {}

  std::string take() {
    while (at_ < pattern_.size())
      step();
    close_options();
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail<FormatError>("the pattern \"{}\" uses {}, which is not understood", pattern_, what);
  }
  [[nodiscard]] char peek(std::size_t n = 0) const {
    return at_ + n < pattern_.size() ? pattern_[at_ + n] : '\0';
  }
  [[nodiscard]] bool is_at(std::string_view text) const {
    return pattern_.substr(at_, text.size()) == text;
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
    switch (peek()) {
      case '\\':
        return escape();
      case '[':
        out_ += set(0);
        return;
      case '(':
        return group();
      case ')':
        close_options();
        if (!options_.empty()) options_.pop_back();
        return copy(1);
      case '{':
        return repeat();
      default:
        return copy(1);
    }
  }

  void group() {
    if (peek(1) != '?') {
      options_.push_back(0);
      return copy(1);
    }
    // In Ruby an option holds to the end of the group, alternatives included.
    for (const auto& [ruby, pcre] :
         {std::pair{"(?i)", "(?i:"}, {"(?m)", "(?s:"}, {"(?-i)", "(?-i:"}}) {
      if (!is_at(ruby)) continue;
      (options_.empty() ? options_at_top_ : options_.back()) += 1;
      return replace(std::string_view(ruby).size(), pcre);
    }
    for (const std::string_view known :
         {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?-i:"}) {
      if (!is_at(known)) continue;
      options_.push_back(0);
      return copy(known.size());
    }
    if (is_at("(?m:")) {
      options_.push_back(0);
      return replace(4, "(?s:");
    }
    refuse(fmt::format("the group {}", pattern_.substr(at_, 4)));
  }

  // Of the group that ends here.
  void close_options() {
    int& n_open = options_.empty() ? options_at_top_ : options_.back();
    for (; n_open > 0; --n_open)
      out_ += ')';
  }

  // {n}, {n,}, {n,m} and, in Ruby, {,m}. A + behind them repeats them in Ruby, but makes them
  // possessive in PCRE2.
  void repeat() {
    const auto end = pattern_.find('}', at_);
    if (end == std::string_view::npos) refuse("a { without }");
    const std::string_view inner = pattern_.substr(at_ + 1, end - at_ - 1);
    if (inner.empty() || inner == "," ||
        inner.find_first_not_of("0123456789,") != std::string_view::npos)
      refuse("a { that is no count");
    if (end + 1 < pattern_.size() && pattern_[end + 1] == '+') refuse("}+");
    if (inner.front() == ',') replace(1, "{0");
    copy(end + 1 - at_);
  }

  // Behind \: what it is as members of a set, and whether they are those that are not meant.
  struct Members {
    std::string set;
    bool is_negated = false;
  };
  std::optional<Members> shorthand() {
    const char c = peek(1);
    if (c == 'p' || c == 'P') return property();
    const bool is_upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    const std::string_view set = is_one_of(c, "sS")   ? R"(\p{White_Space})"
                                 : is_one_of(c, "dD") ? R"(\p{Nd})"
                                 : is_one_of(c, "wW") ? kWord
                                 : is_one_of(c, "hH") ? kHexSet
                                                      : "";
    if (set.empty()) return std::nullopt;
    at_ += 2;
    return Members{std::string(set), is_upper};
  }

  Members property() {
    const auto end = pattern_.find('}', at_);
    if (peek(2) != '{' || end == std::string_view::npos) refuse("\\p without {name}");
    bool is_negated = peek(1) == 'P';
    std::string_view name = pattern_.substr(at_ + 3, end - at_ - 3);
    if (name.starts_with('^')) {
      is_negated = !is_negated;
      name.remove_prefix(1);
    }
    const auto set = set_of_property(name);
    if (!set) refuse(fmt::format("the property {}", name));
    at_ = end + 1;
    return {*set, is_negated};
  }

  // One character behind \; empty: it is none.
  std::string character() {
    const char c = peek(1);
    if (c == '\0') refuse("a \\ at the end");
    std::string out;
    std::size_t n = 2;
    if (c == 'u') {
      out = hex_character(pattern_.substr(at_ + 2, 4), 4);
      n = 6;
    } else if (c == 'x' && peek(2) == '{') {
      const auto end = pattern_.find('}', at_);
      if (end == std::string_view::npos) refuse("\\x{ without }");
      out = hex_character(pattern_.substr(at_ + 3, end - at_ - 3), 0);
      n = end + 1 - at_;
    } else if (c == 'x') {
      while (n < 4 && is_one_of(peek(n), kHex))
        ++n;
      out = hex_character(pattern_.substr(at_ + 2, n - 2), 0);
    } else if (c == 'v') {
      out = R"(\x0B)";
    } else if (is_one_of(c, "nrtfea") || std::isalnum(static_cast<unsigned char>(c)) == 0) {
      out = pattern_.substr(at_, 2);
    }
    if (!out.empty()) at_ += n;
    return out;
  }

  [[nodiscard]] std::string hex_character(std::string_view digits, std::size_t n) const {
    if (digits.empty() || digits.size() > 8 || (n > 0 && digits.size() != n) ||
        digits.find_first_not_of(kHex) != std::string_view::npos)
      refuse("\\u or \\x without hexadecimal digits");
    return fmt::format("\\x{{{}}}", digits);
  }

  void escape() {
    if (const auto members = shorthand()) {
      out_ += fmt::format("[{}{}]", members->is_negated ? "^" : "", members->set);
      return;
    }
    if (std::string one = character(); !one.empty()) {
      out_ += one;
      return;
    }
    switch (const char c = peek(1)) {
      case 'A':
      case 'z':
      case 'R':
        return copy(2);
      case 'b':
        return replace(2, fmt::format("(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))", kWord));
      case 'B':
        return replace(2, fmt::format("(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))", kWord));
      default:
        refuse(fmt::format("\\{}", c));
    }
  }

  // From [ to its ]: a pattern that matches one character.
  std::string set(int depth) {
    bool is_negated = false;
    const Set read = read_set(depth, is_negated);
    return read.matcher(is_negated);
  }

  Set read_set(int depth, bool& is_negated) {
    constexpr int kDeepest = 8;
    if (depth > kDeepest) refuse("sets in sets in sets");
    is_negated = peek(1) == '^';
    at_ += is_negated ? 2 : 1;
    if (peek() == ']') refuse("a ] at the start of a set");
    Set out;
    bool is_behind_set = true;  // a - is itself at the start and behind what is no character
    while (peek() != ']') {
      if (at_ >= pattern_.size()) refuse("an unclosed [");
      if (is_at("&&")) {
        if (out.is_empty()) refuse("&& without a set before it");
        out.intersect();
        at_ += 2;
        is_behind_set = true;
        continue;
      }
      is_behind_set = read_member(depth, is_behind_set, out);
    }
    if (out.is_empty()) refuse("an empty set");
    ++at_;
    return out;
  }

  // Whether it was more than a character.
  bool read_member(int depth, bool is_behind_set, Set& out) {
    if (peek() == '[') {
      read_inner_set(depth, out);
      return true;
    }
    if (peek() == '\\') {
      if (const auto members = shorthand()) {
        out.add_set(members->set, members->is_negated);
        return true;
      }
      const std::string one = character();
      if (one.empty()) refuse(fmt::format("\\{} within a set", peek(1)));
      out.add(one);
      return false;
    }
    const bool is_itself = peek() == '-' && (is_behind_set || is_one_of(peek(1), "]["));
    if (is_itself || peek() == '^') out.add("\\");
    out.add(pattern_.substr(at_, 1));
    ++at_;
    return is_itself;
  }

  void read_inner_set(int depth, Set& out) {
    if (peek(1) == ':') {
      const auto end = pattern_.find(":]", at_);
      if (end == std::string_view::npos) refuse("[: without :]");
      std::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
      const bool is_negated = name.starts_with('^');
      if (is_negated) name.remove_prefix(1);
      const auto members = set_of_bracket(name);
      if (!members) refuse(fmt::format("[:{}:]", name));
      at_ = end + 2;
      return out.add_set(*members, is_negated);
    }
    bool is_negated = false;
    const Set inner = read_set(depth + 1, is_negated);
    if (inner.is_plain()) return out.add_set(inner.members(), is_negated);
    out.add_other(inner.matcher(is_negated));
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  std::string out_;
  std::vector<int> options_;  // of each open group: how many its options have opened within it
  int options_at_top_ = 0;
};

}  // namespace

std::string to_pcre2_syntax(std::string_view pattern) {
  return Translation(pattern).take();
}

}  // namespace sticky::tokenizer
