#include "id_set.hpp"

#include <utility>

namespace sticky::io {

namespace {
constexpr std::size_t kFirstSlots = 1024;  // a power of two, as every later size
}

IdSet::IdSet() : slots_(kFirstSlots) {}

Hash128& IdSet::slot_of(Hash128 hash) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash.low & mask;
  while (slots_[at] != Hash128{} && slots_[at] != hash)
    at = (at + 1) & mask;
  return slots_[at];
}

bool IdSet::insert(Hash128 hash) {
  if (hash == Hash128{}) hash.low = 1;  // zero says "free"
  Hash128& slot = slot_of(hash);
  if (slot == hash) return false;
  slot = hash;
  ++n_;
  if (static_cast<std::size_t>(n_) > slots_.size() / 4 * 3) grow();
  return true;
}

void IdSet::grow() {
  const auto old = std::exchange(slots_, std::vector<Hash128>(2 * slots_.size()));
  for (const Hash128 hash : old)
    if (hash != Hash128{}) slot_of(hash) = hash;
}

}  // namespace sticky::io
