#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sticky::tokenizer {

/// \w of Oniguruma in Unicode, as members of a set: PCRE2's own lacks marks and takes all of N.
inline constexpr std::string_view kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

/// What \p{name} of Oniguruma holds, as members of a PCRE2 set. Names are compared as
/// there: without case, blanks, - and _. Nothing for a name that is not known to mean the same in
/// both (graph, print, blocks).
[[nodiscard]] std::optional<std::string> set_of_property(std::string_view name);
/// The same for [:name:], whose punct has the symbols too.
[[nodiscard]] std::optional<std::string> set_of_bracket(std::string_view name);

}  // namespace sticky::tokenizer
