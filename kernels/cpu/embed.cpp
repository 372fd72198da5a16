#include "kernels/embed.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "kernels/cpu/ops.hpp"

namespace sticky::cpu {
namespace {

float as_float(float x) {
  return x;
}
float as_float(BFloat16 x) {
  return to_float(x);
}
float as_float(Float16 x) {
  return to_float(x);
}

template <class T>
void embed_rows(const Context& context, const Embed& op) {
  const auto table = op.table.as<const T>();
  const auto y = op.y.as<float>();
  for_parts(context.parallel, y.rows, kRowsAPart, [&](i64 begin, i64 end) {
    for (i64 t = begin; t < end; ++t) {
      const T* from = table.row(op.tokens[static_cast<std::size_t>(t)]);
      float* to = y.row(t);
      for (i64 c = 0; c < y.cols; ++c)
        to[c] = as_float(from[c]) * op.scale;
    }
  });
}

}  // namespace

void embed(const Context& context, const Embed& op) {
  if (op.y.rows != static_cast<i64>(op.tokens.size()) || op.y.cols != op.table.cols)
    throw std::invalid_argument("embed: tokens, table and y disagree on a shape");
  for (const i32 id : op.tokens) {
    if (id < 0 || id >= op.table.rows)
      throw std::invalid_argument(
          fmt::format("embed: token {} in a table of {} rows", id, op.table.rows));
  }
  switch (op.table.dtype) {
    case DType::f32:
      return embed_rows<float>(context, op);
    case DType::bf16:
      return embed_rows<BFloat16>(context, op);
    case DType::f16:
      return embed_rows<Float16>(context, op);
  }
}

}  // namespace sticky::cpu
