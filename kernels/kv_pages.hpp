#pragma once

#include <span>

#include "sticky/base/types.hpp"
#include "sticky/tensor/dtype.hpp"

namespace sticky {

inline constexpr i64 kPageTokens = 16;  ///< tokens in one page of the KV cache

/// Keys and values of ONE layer, in pages. Only a backend's own kernels know what is within a page;
/// others may copy whole pages, of n_kv_heads * kPageTokens * head_dim elements each. On the CPU
/// keys are [n_pages][n_kv_heads][head_dim][kPageTokens], so that 16 positions are scored at once,
/// and values [n_pages][n_kv_heads][kPageTokens][head_dim]; both f32. Non-owning.
struct KvPages {
  void* k = nullptr;
  void* v = nullptr;
  DType dtype = DType::f32;
  i64 n_pages = 0;
  i64 n_kv_heads = 0;
  i64 head_dim = 0;
};

/// The rows of one sequence in a step: rows first_row … first_row + n_rows - 1 of the flattened
/// batch stand at positions first_position … of the sequence. Position p lives in pages[p /
/// kPageTokens]. Keys and values of positions before first_position are in the pages
/// already; where a window hides all of a page from all rows, its number is not looked at.
struct SequenceRows {
  i64 first_row = 0;
  i64 n_rows = 0;
  i64 first_position = 0;
  std::span<const i32> pages;
};

}  // namespace sticky
