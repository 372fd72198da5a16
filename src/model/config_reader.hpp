#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"

namespace sticky::model {

/// Reads the keys of a model's config and keeps account of which: what nobody read is judged at the
/// end by refuse_unread(). Errors are FormatErrors that name file, key, what was found and what was
/// expected. A key whose value is null counts as absent, but where it may switch something off.
class ConfigReader {
 public:
  /// `config` must outlive this; FormatError where it is no object. `prefix` stands before every
  /// key ("llama." in GGUF).
  ConfigReader(const Json& config, std::string where, std::string prefix = "");

  [[nodiscard]] const Json* find(std::string_view key);
  [[nodiscard]] i64 count(std::string_view key);  ///< required, 1 … 2^31 - 1
  [[nodiscard]] i64 count_or(std::string_view key, i64 otherwise);
  /// Absent: `otherwise`; null: none.
  [[nodiscard]] std::optional<i64> count_unless_null(std::string_view key, i64 otherwise);
  [[nodiscard]] double number(std::string_view key);  ///< required, finite
  [[nodiscard]] double number_or(std::string_view key, double otherwise);
  /// Absent: `otherwise`; null: none.
  [[nodiscard]] std::optional<double> number_unless_null(std::string_view key, double otherwise);
  /// Required: exactly n positive numbers.
  [[nodiscard]] std::vector<double> positive_numbers(std::string_view key, i64 n);
  [[nodiscard]] bool flag_or(std::string_view key, bool otherwise);
  [[nodiscard]] std::string text_or(std::string_view key, std::string_view otherwise);
  /// One token id or a list of them; empty when absent.
  [[nodiscard]] std::vector<i32> ids(std::string_view key);

  /// These keys may have any value.
  void accept_any(std::initializer_list<std::string_view> keys);
  /// Throws for a key that was not read, has the prefix, contains one of these words, and has a
  /// value: neither null nor false nor empty.
  void refuse_unread(std::span<const std::string_view> words) const;
  /// The same whatever its words.
  void refuse_all_unread() const;

  [[noreturn]] void reject(std::string_view key,
                           const Json& found,
                           std::string_view expected) const;
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  [[nodiscard]] bool is_null(std::string_view key) const;
  [[nodiscard]] const Json& require(std::string_view key, std::string_view expected);

  const Json& config_;
  std::string where_;
  std::string prefix_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace sticky::model
