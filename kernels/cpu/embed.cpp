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

void embed_tokens(const Context& context, const Embed& op) {
  switch (op.table.dtype) {
    case DType::f32:
      return embed_rows<float>(context, op);
    case DType::bf16:
      return embed_rows<BFloat16>(context, op);
    case DType::f16:
      return embed_rows<Float16>(context, op);
  }
}

void check_positions(const Embed& op) {
  if (op.positions.cols != op.y.cols)
    throw std::invalid_argument("embed: positions and y disagree on a shape");
  for (const SequenceRows& s : op.sequences) {
    if (s.first_row < 0 || s.n_rows < 0 || s.first_row > op.y.rows - s.n_rows ||
        s.first_position < 0 || s.first_position > op.positions.rows - s.n_rows)
      throw std::invalid_argument(
          fmt::format("embed: rows {} + {} from position {} on, with {} rows and {} positions",
                      s.first_row, s.n_rows, s.first_position, op.y.rows, op.positions.rows));
  }
}

void add_positions(const Context& context, const Embed& op) {
  const auto positions = op.positions.as<const float>();
  const auto y = op.y.as<float>();
  for_parts(context.parallel, static_cast<i64>(op.sequences.size()), 1, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const SequenceRows& s = op.sequences[static_cast<std::size_t>(i)];
      for (i64 r = 0; r < s.n_rows; ++r) {
        const float* from = positions.row(s.first_position + r);
        float* to = y.row(s.first_row + r);
        for (i64 c = 0; c < y.cols; ++c)
          to[c] += from[c];
      }
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
  const bool has_positions = op.positions.data != nullptr;
  if (has_positions) check_positions(op);
  embed_tokens(context, op);
  if (has_positions) add_positions(context, op);
}

}  // namespace sticky::cpu
