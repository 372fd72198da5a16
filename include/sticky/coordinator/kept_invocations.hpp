#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>

#include "sticky/base/check.hpp"
#include "sticky/base/ids.hpp"
#include "sticky/coordinator/id_table.hpp"
#include "sticky/protocol/codec.hpp"

namespace sticky::coordinator {

/// Every invocation that is not recorded yet, encoded, in the blocks in which they were read: one
/// piece of memory for many, which is freed when the last of them is recorded. Beside its bytes an
/// invocation costs 17.
class KeptInvocations {
 public:
  void add(protocol::EncodedInvocations block) {
    if (block.places().empty()) return;
    blocks_.emplace_front();
    const auto kept = blocks_.begin();
    for (const protocol::EncodedInvocations::Place& place : block.places())
      entries_.insert(place.id) = {kept, place.begin, place.n_bytes};
    kept->n_left = static_cast<i64>(block.places().size());
    kept->bytes = block.take_bytes();
  }
  [[nodiscard]] bool contains(InvocationId id) const { return entries_.find(id) != nullptr; }
  /// Of one that is there.
  [[nodiscard]] std::string_view at(InvocationId id) const {
    const Entry* entry = entries_.find(id);
    STICKY_CHECK(entry != nullptr);
    return std::string_view(entry->block->bytes).substr(entry->begin, entry->n_bytes);
  }
  /// One that is there.
  void erase(InvocationId id) {
    const Entry* entry = entries_.find(id);
    STICKY_CHECK(entry != nullptr);
    const auto block = entry->block;
    entries_.erase(id);
    if (--block->n_left == 0) blocks_.erase(block);
  }
  [[nodiscard]] i64 n_blocks() const { return static_cast<i64>(blocks_.size()); }

 private:
  struct Block {
    std::string bytes;
    i64 n_left = 0;  // of its invocations
  };
  struct Entry {
    std::list<Block>::iterator block;
    std::uint32_t begin = 0;
    std::uint32_t n_bytes = 0;
  };

  std::list<Block> blocks_;
  IdTable<Entry> entries_;
};

}  // namespace sticky::coordinator
