#include "kernels/layernorm.hpp"

#include "kernels/cpu/norm_shapes.hpp"
#include "kernels/cpu/ops.hpp"

namespace sticky::cpu {

void layernorm(const Context& context, const LayerNorm& op) {
  const NormGroups groups = norm_groups("layernorm", op.x, op.weight, op.bias, op.group, op.y);
  const auto x = op.x.as<const float>();
  const auto y = op.y.as<float>();
  const auto* weight = op.weight.as<const float>().data;
  const auto* bias = op.bias.data == nullptr ? nullptr : op.bias.as<const float>().data;
  for_parts(context.parallel, x.rows, kRowsAPart, [&](i64 begin, i64 end) {
    for (i64 t = begin; t < end; ++t) {
      for (i64 g = 0; g < groups.n; ++g)
        context.kernels.layernorm(
            {.x = x.row(t) + g * groups.width,
             .weight = weight + g * groups.weight_step,
             .bias = bias == nullptr ? nullptr : bias + g * groups.weight_step,
             .n = groups.width,
             .eps = op.eps,
             .accumulate = op.accumulate,
             .y = y.row(t) + g * groups.width});
    }
  });
}

}  // namespace sticky::cpu
