#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/bytes.hpp"
#include "sticky/base/error.hpp"
#include "sticky/checkpoint/checkpoint.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::test {

/// The message of opening `path`, or "" when it opens and every row of every tensor can be read.
/// Anything but an Error escapes and fails the test; memory errors are the sanitizers' to find.
inline std::string open_and_read(const std::string& path) {
  try {
    const auto checkpoint = checkpoint::open_checkpoint(path);
    for (const auto& tensor : checkpoint->tensors()) {
      std::vector<float> values(static_cast<std::size_t>(tensor.rows() * tensor.cols()));
      checkpoint->read_rows(tensor, 0, tensor.rows(), values);
    }
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

/// Copies of `bytes` with one to four bits turned over, the same on every machine.
inline std::string flipped(std::string bytes, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto n = 1 + random() % 4;
  for (std::uint32_t i = 0; i < n; ++i)
    bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
  return bytes;
}

/// A safetensors file with this header and n_bytes of data.
inline std::string safetensors(std::string_view header, i64 n_bytes) {
  ByteWriter out;
  out.string(header);
  return out.take() + std::string(static_cast<std::size_t>(n_bytes), '\1');
}

}  // namespace sticky::test
