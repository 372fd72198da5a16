#include "tensor_table.hpp"

#include <unordered_map>
#include <unordered_set>

#include <fmt/ranges.h>

#include "sticky/base/error.hpp"

namespace sticky::model {

std::vector<FoundTensor> find_tensors(const TensorTable& table,
                                      const checkpoint::Checkpoint& checkpoint) {
  std::unordered_map<std::string_view, const checkpoint::TensorInfo*> stored;
  for (const auto& tensor : checkpoint.tensors())
    stored.emplace(tensor.name, &tensor);
  std::unordered_set<std::string_view> known(table.unused.begin(), table.unused.end());
  std::vector<FoundTensor> found;
  found.reserve(table.places.size());
  for (const TensorPlace& place : table.places) {
    const auto it = stored.find(place.name);
    if (it == stored.end()) {
      fail<FormatError>("{}: tensor {} of shape [{}] is missing", checkpoint.path(), place.name,
                        fmt::join(place.shape, ", "));
    }
    if (it->second->shape != place.shape) {
      fail<FormatError>("{}: tensor {} has shape [{}], but the config asks for [{}]",
                        checkpoint.path(), place.name, fmt::join(it->second->shape, ", "),
                        fmt::join(place.shape, ", "));
    }
    known.insert(place.name);
    found.push_back({place, *it->second});
  }
  for (const auto& tensor : checkpoint.tensors()) {
    if (!known.contains(tensor.name)) {
      fail<FormatError>("{}: tensor {} is not part of the model that the config describes",
                        checkpoint.path(), tensor.name);
    }
  }
  return found;
}

}  // namespace sticky::model
