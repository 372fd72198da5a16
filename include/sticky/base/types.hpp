#pragma once

#include <cstdint>

namespace sticky {

using i64 = std::int64_t;  ///< every size, count and index, unless a comment says why not
using i32 = std::int32_t;  ///< token ids and what is stored in bulk beside them

}  // namespace sticky
