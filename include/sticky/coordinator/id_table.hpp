#pragma once

#include <array>
#include <memory>
#include <vector>

#include "sticky/base/check.hpp"
#include "sticky/base/ids.hpp"

namespace sticky::coordinator {

/// T by InvocationId, for ids that are given out in rising order and die in nearly that order.
/// Chunks of 256 are freed when their last entry goes, so a straggler keeps one chunk alive and not
/// everything behind it. All operations O(1); overhead 1 byte an entry, and 8 bytes for every 256
/// ids that ever were.
template <class T>
class IdTable {
 public:
  /// The new entry of an id that has none.
  T& insert(InvocationId id) {
    const auto [at, place] = split(id);
    if (at >= chunks_.size()) chunks_.resize(at + 1);
    if (!chunks_[at]) chunks_[at] = std::make_unique<Chunk>();
    Chunk& chunk = *chunks_[at];
    STICKY_CHECK(!chunk.is_used[place]);
    chunk.is_used[place] = true;
    ++chunk.n_used;
    ++n_;
    return chunk.entries[place];
  }
  /// Null: no entry (never inserted, or erased).
  [[nodiscard]] T* find(InvocationId id) {
    if (id.value < 0) return nullptr;
    const auto [at, place] = split(id);
    if (at >= chunks_.size() || !chunks_[at] || !chunks_[at]->is_used[place]) return nullptr;
    return &chunks_[at]->entries[place];
  }
  [[nodiscard]] const T* find(InvocationId id) const {
    return const_cast<IdTable*>(this)->find(id);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  void erase(InvocationId id) {
    STICKY_CHECK(find(id) != nullptr);
    const auto [at, place] = split(id);
    Chunk& chunk = *chunks_[at];
    chunk.is_used[place] = false;
    chunk.entries[place] = T{};
    --n_;
    if (--chunk.n_used == 0) chunks_[at] = nullptr;
  }
  [[nodiscard]] i64 size() const { return n_; }

 private:
  static constexpr std::size_t kChunk = 256;
  struct Chunk {
    std::array<T, kChunk> entries{};
    std::array<bool, kChunk> is_used{};
    std::size_t n_used = 0;
  };
  struct Place {
    std::size_t chunk;
    std::size_t entry;
  };
  static Place split(InvocationId id) {
    const auto value = static_cast<std::size_t>(id.value);
    return {value / kChunk, value % kChunk};
  }

  std::vector<std::unique_ptr<Chunk>> chunks_;
  i64 n_ = 0;
};

}  // namespace sticky::coordinator
