#include "aligned_bytes.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <sys/mman.h>

#include "sticky/base/error.hpp"

namespace sticky::backend {
namespace {

constexpr i64 kCacheLine = 64;
constexpr i64 kHugePage = 2 << 20;

/// The number behind a key in a file of lines "key number …"; 0 when it is not there.
i64 number_of(const std::string& wanted, const char* path) {
  std::ifstream in(path);
  std::string key;
  i64 value = 0;
  for (std::string rest; in >> key >> value && std::getline(in, rest);) {
    if (key == wanted) return value;
  }
  return 0;
}

/// -1 where the file is absent or says "max".
i64 number_in(const char* path) {
  std::ifstream in(path);
  i64 value = -1;
  return in >> value ? value : -1;
}

}  // namespace

AlignedBytes::AlignedBytes(i64 n_bytes, const std::string& what) : size_(n_bytes) {
  const i64 alignment = n_bytes >= kHugePage ? kHugePage : kCacheLine;
  const i64 rounded = (std::max<i64>(n_bytes, 1) + alignment - 1) / alignment * alignment;
  void* bytes = n_bytes < 0 || n_bytes > available_bytes()
                    ? nullptr
                    : std::aligned_alloc(static_cast<std::size_t>(alignment),
                                         static_cast<std::size_t>(rounded));
  if (bytes == nullptr)
    fail<DeviceError>("{}: {} bytes asked for, {} available", what, n_bytes, available_bytes());
  if (alignment == kHugePage) madvise(bytes, static_cast<std::size_t>(rounded), MADV_HUGEPAGE);
  std::memset(bytes, 0, static_cast<std::size_t>(rounded));
  bytes_.reset(static_cast<std::byte*>(bytes));
}

void AlignedBytes::Free::operator()(std::byte* bytes) const {
  std::free(bytes);
}

i64 available_bytes() {
  i64 available = number_of("MemAvailable:", "/proc/meminfo") * 1024;
  if (available == 0) available = std::numeric_limits<i64>::max();
  const i64 limit = number_in("/sys/fs/cgroup/memory.max");
  const i64 used = number_in("/sys/fs/cgroup/memory.current");
  // Files that were read count as used, but the system drops them when memory is asked for.
  const char* stat = "/sys/fs/cgroup/memory.stat";
  const i64 cached = number_of("inactive_file", stat) + number_of("active_file", stat);
  if (limit >= 0 && used >= 0)
    available = std::min(available, std::max<i64>(0, limit - used + cached));
  return available;
}

}  // namespace sticky::backend
