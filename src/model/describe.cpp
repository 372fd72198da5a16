#include "sticky/model/describe.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sticky/base/error.hpp"

namespace sticky::model {

namespace {

std::vector<StorageShare> storage_shares(const checkpoint::Checkpoint& checkpoint) {
  std::map<checkpoint::Storage, StorageShare> by_storage;
  for (const auto& tensor : checkpoint.tensors()) {
    StorageShare& share = by_storage[tensor.storage];
    share.storage = name(tensor.storage);
    ++share.n_tensors;
    share.n_elements += tensor.rows() * tensor.cols();
    share.n_bytes += tensor.size_bytes;
  }
  std::vector<StorageShare> shares;
  for (auto& [storage, share] : by_storage)
    shares.push_back(std::move(share));
  std::ranges::stable_sort(shares, std::greater{}, &StorageShare::n_bytes);
  return shares;
}

}  // namespace

Description describe(const checkpoint::Checkpoint& checkpoint,
                     const LoadOptions& options,
                     DType weight_dtype,
                     i64 free_bytes) {
  Description d;
  d.form = checkpoint.is_gguf() ? "GGUF file" : "Hugging Face folder";
  d.storage = storage_shares(checkpoint);
  for (const StorageShare& share : d.storage)
    d.n_parameters += share.n_elements;
  try {
    d.spec = read_spec(checkpoint);
    d.memory = plan_memory(checkpoint, options, weight_dtype, free_bytes);
    check_room(d.memory, options, free_bytes);
    d.can_run = true;
  } catch (const Error& e) {
    d.obstacle = e.what();
  }
  return d;
}

}  // namespace sticky::model
