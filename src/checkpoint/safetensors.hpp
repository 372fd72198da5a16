#pragma once

#include <vector>

#include "sticky/checkpoint/checkpoint.hpp"

#include "file.hpp"

namespace sticky::checkpoint {

/// The tensors of one safetensors file, in the order of their bytes, with `file` = file_index.
/// The form: 8 bytes little-endian length of the header, the header (a JSON object: name →
/// {"dtype", "shape", "data_offsets": [begin, end]}, offsets from the end of the header), the data.
/// FormatError naming file, tensor and field when the header is too long (100 MB) or no such
/// object, a dtype is not F32, F16 or BF16, a range is not what dtype and shape need, lies outside
/// the file or in another tensor, or bytes of the file belong to no tensor.
/// Source: the format section of the safetensors project's README.
[[nodiscard]] std::vector<TensorInfo> read_safetensors_header(const File& file, i64 file_index);

}  // namespace sticky::checkpoint
