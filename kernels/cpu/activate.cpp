#include "kernels/activate.hpp"

#include <stdexcept>

#include "kernels/cpu/ops.hpp"

namespace sticky::cpu {

void activate(const Context& context, const Activate& op) {
  if (op.y.rows != op.x.rows || op.y.cols != op.x.cols)
    throw std::invalid_argument("activate: x and y disagree on a shape");
  const auto x = op.x.as<const float>();
  const auto y = op.y.as<float>();
  for_parts(context.parallel, x.rows, kRowsAPart, [&](i64 begin, i64 end) {
    for (i64 t = begin; t < end; ++t)
      context.kernels.activate(
          {.x = x.row(t), .n = x.cols, .activation = op.activation, .y = y.row(t)});
  });
}

}  // namespace sticky::cpu
