#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sticky/base/json.hpp"
#include "sticky/io/options.hpp"

namespace sticky::config {

enum class Kind {
  boolean,
  integer,
  number,
  text,
  time,      ///< ISO 8601, or the empty text
  texts,     ///< list of strings
  integers,  ///< list of integers
  choice,    ///< one of `words`
  duration,  ///< seconds, in files as "60s"
  size,      ///< bytes, in files as "64MiB"
  fixed,     ///< only words[0] is built so far
  later,     ///< the key's name is known, nothing of it is built so far
};

/// What values a key takes.
struct Type {
  Kind kind = Kind::text;
  double min = std::numeric_limits<double>::lowest();  ///< in seconds, bytes or as it stands
  double max = std::numeric_limits<double>::max();
  std::size_t max_items = std::numeric_limits<std::size_t>::max();  ///< of lists
  std::size_t max_bytes = std::numeric_limits<std::size_t>::max();  ///< of each of texts
  std::vector<std::string_view> words = {};                         ///< of choice and fixed
  std::vector<std::string_view> later_words = {};  ///< of choice: known, and not built yet
  std::string_view special = {};  ///< a word that stands for special_value ("auto")
  double special_value = 0.0;     ///< of numbers; texts: the empty text; optional: none
};

/// Where a key's value lives. A choice writes the word to a string, its position to an Order or
/// bool.
using Field = std::variant<std::monostate,
                           bool*,
                           i64*,
                           double*,
                           std::uint64_t*,
                           std::string*,
                           std::optional<i64>*,
                           std::vector<std::string>*,
                           std::vector<i32>*,
                           io::Order*>;

/// For people: "an integer from 1 to 64", "one of \"a\", \"b\"".
[[nodiscard]] std::string describe(const Type& type);

/// The text of a --set or flag as the value that a file would hold. Lists: "a,b" or ["a", "b"].
/// What cannot be read stays a string, which store() then refuses.
[[nodiscard]] Json value_of_text(const Type& type, std::string_view text);

/// Checks a value and writes it. Nothing when all is well, else what is wrong, to stand behind
/// "KEY = VALUE": " is not built yet; so far: \"none\"", ": expected …".
[[nodiscard]] std::optional<std::string> store(const Type& type, const Json& value, Field field);

/// The value of a field as a file would hold it.
[[nodiscard]] Json show(const Type& type, Field field);

}  // namespace sticky::config
