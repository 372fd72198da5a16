#include "sticky/base/hash.hpp"

#include <charconv>
#include <xxhash.h>

#include <fmt/format.h>

namespace sticky {

std::string Hash128::hex() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

std::optional<Hash128> Hash128::from_hex(std::string_view text) {
  constexpr std::size_t kHalf = 16;
  if (text.size() != 2 * kHalf) return std::nullopt;
  // from_chars would take a sign and upper case.
  if (text.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  Hash128 hash;
  std::from_chars(text.data(), text.data() + kHalf, hash.high, 16);
  std::from_chars(text.data() + kHalf, text.data() + 2 * kHalf, hash.low, 16);
  return hash;
}

Hash128 hash128(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

}  // namespace sticky
