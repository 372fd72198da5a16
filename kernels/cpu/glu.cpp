#include "kernels/glu.hpp"

#include <stdexcept>

#include "kernels/cpu/ops.hpp"

namespace sticky::cpu {

void glu(const Context& context, const Glu& op) {
  if (op.y.rows != op.x.rows || 2 * op.y.cols != op.x.cols)
    throw std::invalid_argument("glu: x must have the rows of y and twice its columns");
  const auto x = op.x.as<const float>();
  const auto y = op.y.as<float>();
  for_parts(context.parallel, x.rows, kRowsAPart, [&](i64 begin, i64 end) {
    for (i64 t = begin; t < end; ++t)
      context.kernels.glu({.gate = x.row(t),
                           .up = x.row(t) + y.cols,
                           .n = y.cols,
                           .activation = op.activation,
                           .y = y.row(t)});
  });
}

}  // namespace sticky::cpu
