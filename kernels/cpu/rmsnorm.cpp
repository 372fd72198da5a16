#include "kernels/rmsnorm.hpp"

#include "kernels/cpu/norm_shapes.hpp"
#include "kernels/cpu/ops.hpp"

namespace sticky::cpu {

void rmsnorm(const Context& context, const RmsNorm& op) {
  const NormGroups groups = norm_groups("rmsnorm", op.x, op.weight, {}, op.group, op.y);
  const auto x = op.x.as<const float>();
  const auto y = op.y.as<float>();
  const auto* weight = op.weight.as<const float>().data;
  for_parts(context.parallel, x.rows, kRowsAPart, [&](i64 begin, i64 end) {
    for (i64 t = begin; t < end; ++t) {
      for (i64 g = 0; g < groups.n; ++g)
        context.kernels.rmsnorm({.x = x.row(t) + g * groups.width,
                                 .weight = weight + g * groups.weight_step,
                                 .n = groups.width,
                                 .eps = op.eps,
                                 .weight_offset = op.weight_offset,
                                 .accumulate = op.accumulate,
                                 .y = y.row(t) + g * groups.width});
    }
  });
}

}  // namespace sticky::cpu
