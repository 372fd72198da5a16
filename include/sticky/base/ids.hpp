#pragma once

#include <compare>

#include "sticky/base/types.hpp"

namespace sticky {

/// A number that cannot be mixed up with another kind of number: Id<struct WorkerTag>.
template <class Tag>
struct Id {
  i64 value = -1;
  auto operator<=>(const Id&) const = default;
};

using InvocationId = Id<struct InvocationTag>;  ///< order of reading over all input files, from 0
using WorkerId = Id<struct WorkerTag>;          ///< order of arrival; never used again after a loss

}  // namespace sticky
