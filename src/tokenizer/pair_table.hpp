#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky::tokenizer {

/// (left id, right id) → what a merge gives and how early it is done. Open addressing, at most half
/// full: two lookups in three decide by one cache line, where std::unordered_map needs two or
/// three.
class PairTable {
 public:
  struct Merge {
    i32 rank = 0;
    i32 id = 0;
  };

  explicit PairTable(i64 n_pairs)
      : slots_(std::bit_ceil(static_cast<std::uint64_t>(n_pairs) * 2 + 2)),
        shift_(64 - std::countr_zero(slots_.size())) {}

  void insert_or_assign(i32 left, i32 right, Merge merge) {
    const std::uint64_t key = key_of(left, right);
    std::size_t at = start(key);
    while (slots_[at].key != kEmpty && slots_[at].key != key)
      at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {key, merge};
  }
  [[nodiscard]] const Merge* find(i32 left, i32 right) const {
    const std::uint64_t key = key_of(left, right);
    for (std::size_t at = start(key);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].key == key) return &slots_[at].merge;
      if (slots_[at].key == kEmpty) return nullptr;
    }
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};  // no pair: ids are not negative
  struct Slot {
    std::uint64_t key = kEmpty;
    Merge merge;
  };
  static std::uint64_t key_of(i32 left, i32 right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 |
           static_cast<std::uint32_t>(right);
  }
  // The upper bits of a product depend on all bits of the key.
  [[nodiscard]] std::size_t start(std::uint64_t key) const {
    return static_cast<std::size_t>((key ^ key >> 29) * 0x9E3779B97F4A7C15U >> shift_);
  }

  std::vector<Slot> slots_;
  int shift_;
};

}  // namespace sticky::tokenizer
