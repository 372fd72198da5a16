#include "kernels/gemm.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "kernels/cpu/ops.hpp"

namespace sticky::cpu {
namespace {

void check(const Gemm& op, const PackedMatrix& w) {
  if (op.x.cols != w.k || op.y.cols != w.n || op.y.rows != op.x.rows)
    throw std::invalid_argument(fmt::format("gemm: x [{}, {}], w [{}, {}] and y [{}, {}] disagree",
                                            op.x.rows, op.x.cols, w.n, w.k, op.y.rows, op.y.cols));
  if (op.bias.data != nullptr && op.bias.cols != w.n)
    throw std::invalid_argument(fmt::format("gemm: {} biases for {} columns", op.bias.cols, w.n));
}

const std::byte* as_bytes(const void* p) {
  return static_cast<const std::byte*>(p);
}

auto kernel_of(const KernelTable& kernels, Packing packing) {
  switch (packing) {
    case Packing::f32:
      return kernels.gemm_f32;
    case Packing::bf16:
      return kernels.gemm_bf16;
    case Packing::bf16_pairs:
      return kernels.gemm_bf16_pairs;
  }
  return kernels.gemm_f32;
}

/// x as the kernel reads it.
struct Rounded {
  const std::byte* x;
  i64 row_bytes;
  i64 stride;
};

Rounded round_rows(const Context& context,
                   Rows<const float> x,
                   i64 width,
                   std::span<std::uint16_t> scratch) {
  const i64 together = context.kernels.rounded_rows_together;
  for_parts(context.parallel, x.rows, kRowsAPart, [&](i64 begin, i64 end) {
    for (i64 m = begin; m < end; ++m) {
      std::uint16_t* tile = scratch.data() + m / together * together * width;
      context.kernels.round_row({.from = x.row(m),
                                 .n = x.cols,
                                 .to = tile + m % together * kDepthBlock,
                                 .piece_stride = together * kDepthBlock});
    }
  });
  return {as_bytes(scratch.data()), 2 * width, width};
}

}  // namespace

i64 gemm_scratch_size(const Context& context, const PackedMatrix& w, i64 m) {
  if (w.packing != Packing::bf16_pairs) return 0;
  const i64 together = context.kernels.rounded_rows_together;
  return (m + together - 1) / together * together * packed_k(w.packing, w.k);
}

void gemm(const Context& context,
          const Gemm& op,
          const PackedMatrix& w,
          std::span<std::uint16_t> scratch) {
  check(op, w);
  if (op.x.rows == 0) return;
  const auto x = op.x.as<const float>();
  const auto y = op.y.as<float>();
  const auto* bias = op.bias.data == nullptr ? nullptr : op.bias.as<const float>().data;
  const i64 k = packed_k(w.packing, w.k);
  const auto kernel = kernel_of(context.kernels, w.packing);
  if (kernel == nullptr || static_cast<i64>(scratch.size()) < gemm_scratch_size(context, w, x.rows))
    throw std::invalid_argument("gemm: no kernel for this packing, or too little scratch");
  Rounded in = {as_bytes(x.data), 4 * x.stride, x.stride};
  if (w.packing == Packing::bf16_pairs) in = round_rows(context, x, k, scratch);

  const i64 n_row_blocks = (x.rows + kRowBlock - 1) / kRowBlock;
  const i64 panels = n_panels(w.n);
  // About four parts a thread, so that one which is interrupted does not make all wait; but at
  // least four panels in a part, which is what a single row needs to hide the latency of its fma.
  const i64 n_threads = context.parallel.n_threads();
  const i64 parts = n_threads == 1 ? 1 : std::clamp<i64>(panels / 4, 1, 4 * n_threads);
  context.parallel.for_each(n_row_blocks * parts, IndexFunction([&](i64 i) {
                              const i64 row = i / parts * kRowBlock;
                              const i64 panel = panels * (i % parts) / parts;
                              const i64 end = panels * (i % parts + 1) / parts;
                              const i64 column = panel * kPanel;
                              kernel({.x = in.x + row * in.row_bytes,
                                      .x_stride = in.stride,
                                      .n_rows = std::min(kRowBlock, x.rows - row),
                                      .panels = static_cast<const std::byte*>(w.panels) +
                                                panel * panel_bytes(w.packing, w.k),
                                      .k = k,
                                      .n = std::min(w.n, end * kPanel) - column,
                                      .bias = bias == nullptr ? nullptr : bias + column,
                                      .accumulate = op.accumulate,
                                      .y = y.row(row) + column,
                                      .y_stride = y.stride});
                            }));
}

}  // namespace sticky::cpu
