#include "sticky/base/random.hpp"

namespace sticky {

// The constants are those of the paper (table 2 and section 3.3).
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 2> key,
                                    std::array<std::uint32_t, 4> counter) {
  constexpr int kRounds = 10;
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;  // golden ratio
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;  // sqrt(3) - 1
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

}  // namespace sticky
