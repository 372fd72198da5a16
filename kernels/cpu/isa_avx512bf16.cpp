#include "kernels/cpu/gemm_body.hpp"
#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/round_row_avx512bf16.hpp"
#include "kernels/cpu/vec_avx512.hpp"

namespace sticky::cpu {
namespace {

/// bf16 times bf16, two of k in one instruction.
struct TimesBf16Pairs {
  using V = Vec;
  using X = std::uint16_t;
  using W = std::uint16_t;
  static constexpr i64 kDepth = 2;
  static __m512 load_columns(const W* panel_row, int half) {
    return _mm512_castsi512_ps(_mm512_loadu_si512(panel_row + kPanel * half));
  }
  static __m512 repeat(const X* x) {
    int pair = 0;
    __builtin_memcpy(&pair, x, sizeof pair);
    return _mm512_castsi512_ps(_mm512_set1_epi32(pair));
  }
  static __m512 multiply_add(__m512 a, __m512 b, __m512 sum) {
    return _mm512_dpbf16_ps(sum, __builtin_bit_cast(__m512bh, a), __builtin_bit_cast(__m512bh, b));
  }
};

}  // namespace

const KernelTable& avx512bf16_kernels() {
  static const KernelTable kTable = [] {
    KernelTable table = avx512_kernels();
    table.gemm_bf16_pairs = gemm_block<TimesBf16Pairs>;
    table.round_row = round_row<Vec>;
    return table;
  }();
  return kTable;
}

}  // namespace sticky::cpu
