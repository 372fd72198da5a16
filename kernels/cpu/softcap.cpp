#include "kernels/softcap.hpp"

#include <stdexcept>

#include "kernels/cpu/ops.hpp"

namespace sticky::cpu {

void softcap(const Context& context, const Softcap& op) {
  if (!(op.cap > 0.0F)) throw std::invalid_argument("softcap: the cap must be above 0");
  const auto x = op.x.as<float>();
  for_parts(context.parallel, x.rows, kRowsAPart, [&](i64 begin, i64 end) {
    for (i64 t = begin; t < end; ++t)
      context.kernels.softcap({.x = x.row(t), .n = x.cols, .cap = op.cap});
  });
}

}  // namespace sticky::cpu
