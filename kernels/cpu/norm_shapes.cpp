#include "kernels/cpu/norm_shapes.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace sticky::cpu {

NormGroups norm_groups(
    const char* op, ConstMatrix x, ConstMatrix weight, ConstMatrix bias, i64 group, ConstMatrix y) {
  const i64 width = group == 0 ? x.cols : group;
  if (y.rows != x.rows || y.cols != x.cols || width < 0 || (width > 0 && x.cols % width != 0) ||
      (weight.cols != width && weight.cols != x.cols) ||
      (bias.data != nullptr && bias.cols != weight.cols))
    throw std::invalid_argument(
        fmt::format("{}: x [{}, {}] in groups of {}, {} weights, {} biases and y [{}, {}] disagree",
                    op, x.rows, x.cols, group, weight.cols, bias.cols, y.rows, y.cols));
  return {.n = width == 0 ? 0 : x.cols / width,
          .width = width,
          .weight_step = weight.cols == x.cols ? width : 0};
}

}  // namespace sticky::cpu
