#pragma once

#include <span>
#include <vector>

namespace sticky::engine {

/// e^x of each, divided by the sum of all: shares that add up to 1, in the same order. The same
/// bits on every processor. The values must be finite; none give none.
[[nodiscard]] std::vector<double> softmax(std::span<const double> values);

}  // namespace sticky::engine
