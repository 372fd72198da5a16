#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sticky/base/json.hpp"
#include "sticky/base/types.hpp"

namespace sticky::checkpoint {

/// How the elements of a tensor are stored. The quantised ones are GGML's block formats.
enum class Storage : std::uint8_t {
  f32,
  f16,
  bf16,
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q4_k,
  q5_k,
  q6_k
};
/// "f32", "q4_1", "q4_k", …
[[nodiscard]] std::string_view name(Storage storage);

struct TensorInfo {
  std::string name;
  Storage storage = Storage::f32;
  std::vector<i64>
      shape;             ///< slowest dimension first, as PyTorch prints it (GGUF's order reversed)
  i64 file = 0;          ///< which of the checkpoint's files
  i64 offset_bytes = 0;  ///< in that file
  i64 size_bytes = 0;

  [[nodiscard]] i64 rows() const { return shape.empty() ? 1 : shape[0]; }
  [[nodiscard]] i64 cols() const;  ///< elements of one row: product of the other dimensions
};

/// A model on disk: a Hugging Face folder (safetensors, sharded or not) or one GGUF file.
/// Everything is validated when it is opened (headers are hostile input); FormatError names file,
/// field, what was found and what was expected. Weights are read, never mapped (a mapping of a file
/// on a shared file system dies by SIGBUS when the file shrinks).
class Checkpoint {
 public:
  Checkpoint() = default;
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  virtual ~Checkpoint() = default;

  [[nodiscard]] virtual const std::string& path() const = 0;
  [[nodiscard]] virtual bool is_gguf() const = 0;
  /// config.json of a folder; for GGUF an object of all metadata ("llama.block_count": 30, …),
  /// arrays included.
  [[nodiscard]] virtual const Json& config() const = 0;
  /// generation_config.json of a folder; an empty object when there is none, and for GGUF.
  [[nodiscard]] virtual const Json& generation_config() const = 0;
  /// In the order of their bytes: reading them one after the other reads the files from front to
  /// end.
  [[nodiscard]] virtual const std::vector<TensorInfo>& tensors() const = 0;
  /// Null when there is none of that name.
  [[nodiscard]] const TensorInfo* find(std::string_view tensor) const;
  /// Rows first … first + n - 1 widened to f32 (dequantised exactly as GGML defines the format):
  /// out is [n, cols()]. Reads the rows' bytes in pieces of up to 16 MiB, each once; the more rows
  /// a call asks for, the fewer and larger the reads. May be called from several threads. Throws
  /// SystemError or FormatError when the file cannot be read as far as it says.
  virtual void read_rows(const TensorInfo& tensor,
                         i64 first,
                         i64 n,
                         std::span<float> out) const = 0;
};

/// Opens a folder with config.json and safetensors, or a .gguf file. ConfigError when nothing is at
/// the path.
[[nodiscard]] std::unique_ptr<Checkpoint> open_checkpoint(const std::string& path);

}  // namespace sticky::checkpoint
