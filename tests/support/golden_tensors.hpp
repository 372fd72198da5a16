#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/error.hpp"
#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"

namespace sticky::test {

/// Recorded tensors in the safetensors format, trusted. Shares nothing with the reader under test.
class GoldenTensors {
 public:
  explicit GoldenTensors(std::string bytes) : bytes_(std::move(bytes)) {
    std::uint64_t n = 0;
    std::memcpy(&n, bytes_.data(), sizeof n);
    header_ = Json::parse(std::string_view(bytes_).substr(8, n));
    begin_ = 8 + static_cast<i64>(n);
  }
  [[nodiscard]] std::vector<float> floats(const std::string& name) const {
    return values<float>(name);
  }
  [[nodiscard]] std::vector<i32> integers(const std::string& name) const {
    return values<i32>(name);
  }

 private:
  template <class T>
  std::vector<T> values(const std::string& name) const {
    const Json* tensor = header_.find(name);
    if (tensor == nullptr) fail<FormatError>("no recorded tensor {}", name);
    const auto& range = tensor->find("data_offsets")->as_array();
    const auto n = static_cast<std::size_t>(range[1].as_integer() - range[0].as_integer());
    std::vector<T> values(n / sizeof(T));
    std::memcpy(values.data(), bytes_.data() + begin_ + range[0].as_integer(), n);
    return values;
  }

  std::string bytes_;
  Json header_;
  i64 begin_ = 0;
};

/// Token ids of a JSON array.
inline std::vector<i32> ids_of(const Json& array) {
  std::vector<i32> ids;
  for (const Json& id : array.as_array())
    ids.push_back(static_cast<i32>(id.as_integer()));
  return ids;
}

}  // namespace sticky::test
