#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sticky {

/// 128 bits that stand for a text. Not cryptographic.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;

  /// 32 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;
  /// The inverse of hex(); nothing when the text is of another form.
  [[nodiscard]] static std::optional<Hash128> from_hex(std::string_view text);
};

/// XXH3, 128 bits, seed 0: the same on every machine, so that it may be stored in files.
[[nodiscard]] Hash128 hash128(std::string_view bytes);

}  // namespace sticky
