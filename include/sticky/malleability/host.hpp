#pragma once

#include <string>
#include <string_view>

#include "sticky/base/types.hpp"

namespace sticky::malleability {

inline constexpr i64 kMostSlots = 65536;  ///< of one host, in a host file or an order

struct Host {
  std::string name;
  i64 n_slots = 1;  ///< workers that may run there
  bool operator==(const Host&) const = default;
};

/// Letters, digits, '.', '-' and '_', at most 253 of them, the first one a letter or digit: what
/// can be handed to MPI and written to a log whoever wrote it.
[[nodiscard]] bool is_host_name(std::string_view text);

/// What two names of one host have in common: the part before the first dot, in lower case; an IPv4
/// address is itself.
[[nodiscard]] std::string host_key(std::string_view name);

/// "host" or "host:N", N from 1 to kMostSlots. FormatError names what is wrong.
[[nodiscard]] Host parse_host(std::string_view text);

}  // namespace sticky::malleability
