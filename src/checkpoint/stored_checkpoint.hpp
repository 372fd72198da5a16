#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sticky/checkpoint/checkpoint.hpp"

#include "file.hpp"

namespace sticky::checkpoint {

/// What a reader of headers found; validated by it.
struct Contents {
  std::string path;
  bool is_gguf = false;
  Json config = Json::object();
  Json generation_config = Json::object();
  std::vector<File> files = {};
  std::vector<TensorInfo> tensors = {};
};

[[nodiscard]] std::unique_ptr<Checkpoint> make_checkpoint(Contents contents);

/// The readers of headers behind open_checkpoint().
[[nodiscard]] Contents open_folder(const std::string& path);
[[nodiscard]] Contents open_gguf(const std::string& path);

/// Bytes of a tensor of this shape and storage. FormatError, naming `where`, when a dimension is
/// negative, the product overflows, or rows do not end with a block.
[[nodiscard]] i64 size_bytes_of(const TensorInfo& tensor, const std::string& where);

/// Sorts the tensors of one file by position. FormatError when two have the same name, two share
/// bytes, or one reaches beyond `end`.
void sort_and_check_ranges(std::vector<TensorInfo>& tensors, const std::string& path, i64 end);

}  // namespace sticky::checkpoint
