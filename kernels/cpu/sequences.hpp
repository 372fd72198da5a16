#pragma once

#include <span>

#include "kernels/kv_pages.hpp"

namespace sticky::cpu {

/// Throws std::invalid_argument, beginning with the name of the operation, unless the rows of all
/// sequences lie within n_rows and the pages that they need exist: with a window, those before the
/// first position that a row sees may be gone (any number may stand there).
void check_sequences(const char* op,
                     std::span<const SequenceRows> sequences,
                     i64 n_rows,
                     const KvPages& kv,
                     i64 window);

}  // namespace sticky::cpu
