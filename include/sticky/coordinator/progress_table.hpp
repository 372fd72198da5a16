#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "sticky/base/ids.hpp"
#include "sticky/base/types.hpp"

namespace sticky::coordinator {

/// What workers had made of invocations that they handed back, encoded, until these are recorded.
/// Few invocations have any. What does not fit `max_bytes` is not kept: it is only made once more.
class ProgressTable {
 public:
  explicit ProgressTable(i64 max_bytes = i64{256} << 20) : max_bytes_(max_bytes) {}

  /// Instead of what is there. Where it does not fit, that stays.
  void keep(InvocationId id, std::string encoded) {
    const i64 n_more = std::ssize(encoded) - std::ssize(find(id));
    if (n_bytes_ + n_more > max_bytes_) return;
    n_bytes_ += n_more;
    entries_[id] = std::move(encoded);
  }
  /// Empty: there is none.
  [[nodiscard]] std::string_view find(InvocationId id) const {
    const auto at = entries_.find(id);
    return at != entries_.end() ? std::string_view(at->second) : std::string_view();
  }
  void erase(InvocationId id) {
    const auto at = entries_.find(id);
    if (at == entries_.end()) return;
    n_bytes_ -= std::ssize(at->second);
    entries_.erase(at);
  }
  [[nodiscard]] i64 n_bytes() const { return n_bytes_; }

 private:
  std::map<InvocationId, std::string> entries_;
  i64 max_bytes_;
  i64 n_bytes_ = 0;
};

}  // namespace sticky::coordinator
