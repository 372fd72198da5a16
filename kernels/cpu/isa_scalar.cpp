#include "kernels/cpu/attention_body.hpp"
#include "kernels/cpu/gemm_body.hpp"
#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/row_bodies.hpp"
#include "kernels/cpu/vec_scalar.hpp"

namespace sticky::cpu {

const KernelTable& scalar_kernels() {
  static constexpr KernelTable kTable = {
      .rmsnorm = rmsnorm_row<Vec>,
      .layernorm = layernorm_row<Vec>,
      .glu = glu_row<Vec>,
      .activate = activate_row<Vec>,
      .softcap = softcap_row<Vec>,
      .attention = attention_unit<Vec>,
      .gemm_f32 = gemm_block<TimesF32<Vec>>,
      .gemm_bf16 = gemm_block<TimesBf16<Vec>>,
  };
  return kTable;
}

}  // namespace sticky::cpu
