#include "regex_properties.hpp"

#include <array>
#include <cctype>
#include <utility>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <fmt/format.h>

namespace sticky::tokenizer {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Short name and long name of each general category (UAX #44, table 12).
constexpr std::array<Pair, 38> kCategories{{
    {"L", "letter"},
    {"L&", "casedletter"},
    {"L&", "lc"},
    {"Lu", "uppercaseletter"},
    {"Ll", "lowercaseletter"},
    {"Lt", "titlecaseletter"},
    {"Lm", "modifierletter"},
    {"Lo", "otherletter"},
    {"M", "mark"},
    {"M", "combiningmark"},
    {"Mn", "nonspacingmark"},
    {"Mc", "spacingmark"},
    {"Me", "enclosingmark"},
    {"N", "number"},
    {"Nd", "decimalnumber"},
    {"Nl", "letternumber"},
    {"No", "othernumber"},
    {"P", "punctuation"},
    {"P", "punct"},
    {"Pc", "connectorpunctuation"},
    {"Pd", "dashpunctuation"},
    {"Ps", "openpunctuation"},
    {"Pe", "closepunctuation"},
    {"Pi", "initialpunctuation"},
    {"Pf", "finalpunctuation"},
    {"Po", "otherpunctuation"},
    {"S", "symbol"},
    {"Sm", "mathsymbol"},
    {"Sc", "currencysymbol"},
    {"Sk", "modifiersymbol"},
    {"So", "othersymbol"},
    {"Z", "separator"},
    {"Zs", "spaceseparator"},
    {"Zl", "lineseparator"},
    {"Zp", "paragraphseparator"},
    {"C", "other"},
    {"Cc", "control"},
    {"Cf", "format"},
}};

constexpr std::array<Pair, 11> kSets{{
    {"alpha", R"(\p{Alphabetic})"},
    {"alnum", R"(\p{Alphabetic}\p{Nd})"},
    {"digit", R"(\p{Nd})"},
    {"upper", R"(\p{Uppercase})"},
    {"lower", R"(\p{Lowercase})"},
    {"space", R"(\p{White_Space})"},
    {"cntrl", R"(\p{Cc})"},
    {"xdigit", "0-9A-Fa-f"},
    {"blank", R"(\p{Zs}\t)"},
    {"ascii", R"(\x{0}-\x{7F})"},
    {"any", R"(\x{0}-\x{10FFFF})"},
}};

std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != ' ' && c != '-' && c != '_')
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

bool is_known_to_pcre2(const std::string& pattern) {
  int error = 0;
  std::size_t error_at = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(),
                                   PCRE2_UTF, &error, &error_at, nullptr);
  pcre2_code_free(code);
  return code != nullptr;
}

}  // namespace

std::optional<std::string> set_of_property(std::string_view name) {
  const std::string wanted = plain(name);
  for (const auto& [short_name, long_name] : kCategories) {
    if (wanted == long_name || wanted == plain(short_name))
      return fmt::format("\\p{{{}}}", short_name);
  }
  if (wanted == "word") return std::string(kWord);
  for (const auto& [set, members] : kSets) {
    if (wanted == set) return std::string(members);
  }
  if (wanted.empty() || wanted == "graph" || wanted == "print" ||
      wanted.find_first_not_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos)
    return std::nullopt;
  // A script is those characters alone, not those that other scripts share with it.
  for (const char* form : {"\\p{{sc:{}}}", "\\p{{{}}}"}) {
    std::string pattern = fmt::format(fmt::runtime(form), wanted);
    if (is_known_to_pcre2(pattern)) return pattern;
  }
  return std::nullopt;
}

std::optional<std::string> set_of_bracket(std::string_view name) {
  if (plain(name) == "punct") return R"(\p{P}\p{S})";
  return set_of_property(name);
}

}  // namespace sticky::tokenizer
