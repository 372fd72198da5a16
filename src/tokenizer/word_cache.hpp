#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky::tokenizer {

/// Remembers the ids of short words. A place of its own for each hash, the newest word takes it:
/// memory is bounded, and nothing has to be thrown out.
class WordCache {
 public:
  WordCache() : slots_(kSlots) {}

  /// Whether it was found; then its ids are appended.
  [[nodiscard]] bool append(std::string_view word, std::vector<i32>& ids) const {
    if (word.size() > kBytes) return false;
    const Slot& slot = slots_[index(word)];
    if (slot.n_bytes != word.size() ||
        std::memcmp(slot.bytes.data(), word.data(), word.size()) != 0)
      return false;
    ids.insert(ids.end(), slot.ids.begin(), slot.ids.begin() + slot.n_ids);
    return true;
  }
  void remember(std::string_view word, std::span<const i32> ids) {
    if (word.empty() || word.size() > kBytes || ids.size() > kIds) return;
    Slot& slot = slots_[index(word)];
    slot.n_bytes = static_cast<unsigned char>(word.size());
    slot.n_ids = static_cast<unsigned char>(ids.size());
    std::memcpy(slot.bytes.data(), word.data(), word.size());
    std::copy(ids.begin(), ids.end(), slot.ids.begin());
  }

 private:
  // One cache line a slot, 1 MiB in all: it stays in a core's own cache.
  static constexpr std::size_t kSlots = 1 << 14;
  static constexpr std::size_t kBytes = 30;
  static constexpr std::size_t kIds = 8;
  struct alignas(64) Slot {
    std::array<i32, kIds> ids{};
    unsigned char n_bytes = 0;
    unsigned char n_ids = 0;
    std::array<char, kBytes> bytes{};
  };
  static_assert(sizeof(Slot) == 64);

  static std::size_t index(std::string_view word) {
    return std::hash<std::string_view>{}(word) & (kSlots - 1);
  }

  std::vector<Slot> slots_;
};

}  // namespace sticky::tokenizer
