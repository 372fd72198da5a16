#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "sticky/base/types.hpp"

namespace sticky::backend {

/// Zeroed memory, aligned to cache lines; large pieces to huge pages, which the system is asked
/// for: a weight is read from end to end in every step. DeviceError naming `what` when there is no
/// room.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  AlignedBytes(i64 n_bytes, const std::string& what);
  [[nodiscard]] std::byte* get() const { return bytes_.get(); }
  [[nodiscard]] i64 size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  std::unique_ptr<std::byte, Free> bytes_;
  i64 size_ = 0;
};

/// Memory that the system could still give this process: what is free, within the limit of its
/// cgroup.
[[nodiscard]] i64 available_bytes();

}  // namespace sticky::backend
