#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sticky/config/config.hpp"

#include "value.hpp"

namespace sticky::config {

/// One key of a job file. The table of all rows is the only place that knows keys: parsing, --set,
/// range checks, the effective configuration and the reference page are driven by it.
struct Row {
  std::string_view key;  ///< "run.grace"; NAME stands for a name that the user chooses
  Type type;
  Field (*field)(Config& config) = nullptr;  ///< nullptr: kinds fixed and later
  std::string_view doc;                      ///< one sentence for the reference
};

/// In the order of the reference page.
[[nodiscard]] std::span<const Row> rows();

/// The row of a key as a user writes it ("state.claims.model" finds "state.NAME.model"), or
/// nullptr.
[[nodiscard]] const Row* find_row(std::string_view key);

/// A row's key with NAME replaced.
[[nodiscard]] std::string with_name(std::string_view row_key, std::string_view name);

/// The second part of a key: "claims" of "state.claims.model"; empty when there is none.
[[nodiscard]] std::string_view name_part(std::string_view key);

}  // namespace sticky::config
