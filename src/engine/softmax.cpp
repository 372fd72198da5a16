#include "sticky/engine/softmax.hpp"

#include <algorithm>

#include "elementary.hpp"

namespace sticky::engine {

std::vector<double> softmax(std::span<const double> values) {
  std::vector<double> shares;
  if (values.empty()) return shares;
  const double best = *std::ranges::max_element(values);
  double sum = 0.0;
  for (const double value : values) {
    shares.push_back(exp_nonpositive(value - best));
    sum += shares.back();
  }
  for (double& share : shares)
    share /= sum;
  return shares;
}

}  // namespace sticky::engine
