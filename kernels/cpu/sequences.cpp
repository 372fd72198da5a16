#include "kernels/cpu/sequences.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sticky::cpu {

void check_sequences(const char* op,
                     std::span<const SequenceRows> sequences,
                     i64 n_rows,
                     const KvPages& kv,
                     i64 window) {
  if (kv.dtype != DType::f32)
    throw std::invalid_argument(
        fmt::format("{}: KV pages of {}; the CPU keeps f32", op, name(kv.dtype)));
  for (const SequenceRows& s : sequences) {
    if (s.first_row < 0 || s.n_rows < 0 || s.first_position < 0 || s.first_row > n_rows - s.n_rows)
      throw std::invalid_argument(
          fmt::format("{}: rows {} + {} of a sequence, but the batch has {}", op, s.first_row,
                      s.n_rows, n_rows));
    const i64 n_positions = s.n_rows == 0 ? 0 : s.first_position + s.n_rows;
    const auto n_pages = static_cast<std::size_t>((n_positions + kPageTokens - 1) / kPageTokens);
    if (s.pages.size() < n_pages)
      throw std::invalid_argument(fmt::format("{}: {} positions in {} pages of {} tokens", op,
                                              n_positions, s.pages.size(), kPageTokens));
    const i64 first = window > 0 ? std::max<i64>(0, s.first_position - window + 1) : 0;
    for (i64 i = first / kPageTokens; i < static_cast<i64>(n_pages); ++i) {
      const i32 page = s.pages[static_cast<std::size_t>(i)];
      if (page < 0 || page >= kv.n_pages)
        throw std::invalid_argument(fmt::format("{}: page {} of {}", op, page, kv.n_pages));
    }
  }
}

}  // namespace sticky::cpu
