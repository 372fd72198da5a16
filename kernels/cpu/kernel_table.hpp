#pragma once

#include <cstdint>

#include "kernels/cpu/instruction_set.hpp"
#include "kernels/glu.hpp"
#include "sticky/base/types.hpp"

// What is compiled once per instruction set. Only plain pointers and numbers cross this border: an
// inline function that two of these units shared could be emitted by the one with the newer
// instructions and then run on a processor without them.

namespace sticky::cpu {

inline constexpr i64 kPanel = 32;          ///< columns of a weight that are packed side by side
inline constexpr i64 kRowBlock = 96;       ///< rows of x that stay in the L2 cache
inline constexpr i64 kDepthBlock = 32;     ///< bf16_pairs: k is padded to these with zeros
inline constexpr i64 kKeysPerSplit = 256;  ///< attention: keys of one softmax part
inline constexpr i64 kPairs = 12;          ///< attention: (row, query head) pairs that share loads
inline constexpr i64 kMaxHeadDim = 512;

/// How a weight [n, k] is packed. Columns n are padded to whole panels with zeros.
enum class Packing : std::uint8_t {
  f32,   ///< [n / 32][k][32] f32
  bf16,  ///< [n / 32][k][16][2] bf16: columns c and c + 16 beside each other; widened when used
  bf16_pairs,  ///< [n / 32][k / 2][32][2] bf16: two k beside each other; k padded to kDepthBlock
};

/// n_rows of x times the columns of some panels, see Gemm for the arithmetic.
struct GemmBlock {
  const void* x = nullptr;       ///< f32; where the packing is bf16_pairs as RoundedRow says
  i64 x_stride = 0;              ///< elements
  i64 n_rows = 0;                ///< 1 … kRowBlock
  const void* panels = nullptr;  ///< the first panel
  i64 k = 0;                     ///< as packed
  i64 n = 0;                     ///< columns; the last panel may be used in part
  const float* bias = nullptr;   ///< of the first column; may be null
  bool accumulate = false;
  float* y = nullptr;  ///< row 0, first column
  i64 y_stride = 0;
};

/// One row of x rounded to bf16 for a GEMM with bf16_pairs: pieces of kDepthBlock elements, filled
/// up with zeros, each piece_stride elements behind the one before.
struct RoundedRow {
  const float* from = nullptr;
  i64 n = 0;
  std::uint16_t* to = nullptr;
  i64 piece_stride = 0;
};

struct RmsNormRow {
  const float* x = nullptr;
  const float* weight = nullptr;
  i64 n = 0;
  float eps = 0.0F;
  float weight_offset = 0.0F;
  bool accumulate = false;
  float* y = nullptr;
};

struct LayerNormRow {
  const float* x = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  ///< may be null
  i64 n = 0;
  float eps = 0.0F;
  bool accumulate = false;
  float* y = nullptr;
};

struct GluRow {
  const float* gate = nullptr;
  const float* up = nullptr;
  i64 n = 0;
  Activation activation = Activation::silu;
  float* y = nullptr;
};

struct ActivateRow {
  const float* x = nullptr;
  i64 n = 0;
  Activation activation = Activation::silu;
  float* y = nullptr;
};

struct SoftcapRow {
  float* x = nullptr;
  i64 n = 0;
  float cap = 0.0F;
};

/// Up to kPairs (row, query head) pairs of one sequence that read the same kv head. Pair i is row i
/// / group, head kv_head * group + i % group. Keys lie in pages as [n_kv_heads][head_dim][16],
/// values as [n_kv_heads][16][head_dim].
struct AttentionUnit {
  const float* q = nullptr;  ///< row 0 of the sequence
  i64 q_stride = 0;
  float* y = nullptr;  ///< row 0 of the sequence
  i64 y_stride = 0;
  const float* k = nullptr;
  const float* v = nullptr;
  const i32* pages = nullptr;
  i64 n_kv_heads = 0;
  i64 head_dim = 0;
  i64 kv_head = 0;
  i64 group = 0;
  i64 first_pair = 0;
  i64 n_pairs = 0;
  i64 first_position = 0;  ///< of row 0
  float scale = 1.0F;
  i64 window = 0;
  float softcap = 0.0F;
};

struct KernelTable {
  void (*rmsnorm)(const RmsNormRow&) = nullptr;
  void (*layernorm)(const LayerNormRow&) = nullptr;
  void (*glu)(const GluRow&) = nullptr;
  void (*activate)(const ActivateRow&) = nullptr;
  void (*softcap)(const SoftcapRow&) = nullptr;
  void (*attention)(const AttentionUnit&) = nullptr;
  void (*gemm_f32)(const GemmBlock&) = nullptr;
  void (*gemm_bf16)(const GemmBlock&) = nullptr;  ///< weights widened, the same bits as gemm_f32
  // Below avx512bf16 there is no GEMM of bf16 products.
  void (*gemm_bf16_pairs)(const GemmBlock&) = nullptr;
  void (*round_row)(const RoundedRow&) = nullptr;
  /// Rows whose rounded pieces lie beside each other: [rows / this][k / 32][this][32].
  i64 rounded_rows_together = 1;
};

/// The kernels of a level; it must be one that usable_instruction_sets() names.
[[nodiscard]] const KernelTable& kernel_table(InstructionSet set);

}  // namespace sticky::cpu
