#pragma once

#include <span>

#include "kernels/activate.hpp"
#include "kernels/attention.hpp"
#include "kernels/cpu/packing.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/embed.hpp"
#include "kernels/gemm.hpp"
#include "kernels/glu.hpp"
#include "kernels/layernorm.hpp"
#include "kernels/rmsnorm.hpp"
#include "kernels/rope.hpp"
#include "kernels/softcap.hpp"

// The operations on the CPU: shapes are checked, then rows or tiles are shared out to threads. All
// shape errors are std::invalid_argument.

namespace sticky::cpu {

/// What operations run with.
struct Context {
  const KernelTable& kernels;
  Parallel& parallel;
};

/// Rows of a small operation that are worth a hand-over to another thread.
inline constexpr i64 kRowsAPart = 8;

void embed(const Context& context, const Embed& op);
void rmsnorm(const Context& context, const RmsNorm& op);
void layernorm(const Context& context, const LayerNorm& op);
void rope_and_store(const Context& context, const RopeAndStore& op);
void attention(const Context& context, const Attention& op);
void glu(const Context& context, const Glu& op);
void activate(const Context& context, const Activate& op);
void softcap(const Context& context, const Softcap& op);

/// Elements of scratch that gemm() needs for m rows.
[[nodiscard]] i64 gemm_scratch_size(const Context& context, const PackedMatrix& w, i64 m);
/// op.w is not looked at: w is the packed form of it.
void gemm(const Context& context,
          const Gemm& op,
          const PackedMatrix& w,
          std::span<std::uint16_t> scratch);

}  // namespace sticky::cpu
