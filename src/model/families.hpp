#pragma once

#include <span>
#include <string_view>

#include "sticky/checkpoint/checkpoint.hpp"
#include "sticky/model/spec.hpp"

#include "tensor_table.hpp"

namespace sticky::model {

/// A model family: how its checkpoints tell their spec, and where they keep their tensors. All that
/// is particular to a family stands behind these functions, in families/<name>.cpp.
struct Family {
  std::string_view name;
  std::string_view hf_architecture;    ///< in config.json's "architectures"
  std::string_view gguf_architecture;  ///< "general.architecture"; empty: another family's
  ModelSpec (*read_hf)(const checkpoint::Checkpoint& checkpoint) = nullptr;
  ModelSpec (*read_gguf)(const checkpoint::Checkpoint& checkpoint) = nullptr;
  TensorTable (*tensor_table)(const ModelSpec& spec,
                              const checkpoint::Checkpoint& checkpoint) = nullptr;
};

[[nodiscard]] std::span<const Family* const> all_families();

/// The family that the checkpoint's config names. FormatError, listing the known ones, when there
/// is none.
[[nodiscard]] const Family& family_of(const checkpoint::Checkpoint& checkpoint);

// One line a family.
[[nodiscard]] const Family& gemma2();
[[nodiscard]] const Family& gemma3();
[[nodiscard]] const Family& gpt2();
[[nodiscard]] const Family& gpt_neox();
[[nodiscard]] const Family& llama();
[[nodiscard]] const Family& mistral();
[[nodiscard]] const Family& olmo2();
[[nodiscard]] const Family& phi3();
[[nodiscard]] const Family& qwen2();
[[nodiscard]] const Family& qwen3();
[[nodiscard]] const Family& stablelm();

}  // namespace sticky::model
