#include "kernels/rmsnorm.hpp"

#include <stdexcept>

#include "kernels/cpu/ops.hpp"

namespace sticky::cpu {

void rmsnorm(const Context& context, const RmsNorm& op) {
  if (op.y.rows != op.x.rows || op.y.cols != op.x.cols || op.weight.cols != op.x.cols)
    throw std::invalid_argument("rmsnorm: x, y and weight disagree on a shape");
  const auto x = op.x.as<const float>();
  const auto y = op.y.as<float>();
  const auto* weight = op.weight.as<const float>().data;
  for_parts(context.parallel, x.rows, kRowsAPart, [&](i64 begin, i64 end) {
    for (i64 t = begin; t < end; ++t)
      context.kernels.rmsnorm({.x = x.row(t),
                               .weight = weight,
                               .n = x.cols,
                               .eps = op.eps,
                               .weight_offset = op.weight_offset,
                               .y = y.row(t)});
  });
}

}  // namespace sticky::cpu
