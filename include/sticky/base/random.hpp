#pragma once

#include <array>
#include <cstdint>

namespace sticky {

/// Philox4x32-10 (Salmon et al. 2011): a pure function from (key, counter) to 128 random bits.
/// No state: the same request draws the same numbers on any worker, at any time, after any restart.
[[nodiscard]] std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 2> key,
                                                  std::array<std::uint32_t, 4> counter);

/// Uniform in [0, 1) with 53 bits, from two words of philox().
[[nodiscard]] inline double uniform01(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (std::uint64_t{high} << 32 | low) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

}  // namespace sticky
