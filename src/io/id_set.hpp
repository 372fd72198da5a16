#pragma once

#include <vector>

#include "sticky/base/hash.hpp"
#include "sticky/base/types.hpp"

namespace sticky::io {

/// A set of 128-bit hashes: one table with open addressing and linear probing, at most 3/4 full and
/// doubled then, so 21 to 43 bytes an entry (and half as much again while it doubles). 10 million
/// ids need 256 MiB.
class IdSet {
 public:
  IdSet();
  /// Whether it was not there before.
  bool insert(Hash128 hash);
  [[nodiscard]] i64 size() const { return n_; }

 private:
  [[nodiscard]] Hash128& slot_of(Hash128 hash);
  void grow();

  std::vector<Hash128> slots_;  // all zero: free
  i64 n_ = 0;
};

}  // namespace sticky::io
