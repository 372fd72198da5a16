#pragma once

#include <span>
#include <vector>

#include "kernels/kv_pages.hpp"

namespace sticky::cpu {

/// Throws std::invalid_argument, beginning with the name of the operation, unless the rows of all
/// sequences lie within n_rows, no two share a row, and their pages exist.
void check_sequences(const char* op,
                     std::span<const SequenceRows> sequences,
                     i64 n_rows,
                     const KvPages& kv);

}  // namespace sticky::cpu
