#pragma once

#include <string_view>
#include <vector>

#include "sticky/checkpoint/checkpoint.hpp"
#include "sticky/model/spec.hpp"

#include "config_reader.hpp"

// What the metadata of all decoders in GGUF have in common. Keys are those of gguf.md and of
// llama.cpp, the values what its conversion of the architecture writes; where it writes none, the
// family says what its models have.

namespace sticky::model {

/// Sizes, eps of the norms, token ids; which biases there are and whether the head is tied, as the
/// tensors tell; attention_scale as head_dim gives it; no rotary positions yet. Experts are
/// refused.
[[nodiscard]] ModelSpec read_gguf_decoder(ConfigReader& config,
                                          const checkpoint::Checkpoint& checkpoint,
                                          std::string_view family,
                                          NormKind norm = NormKind::rms);

/// Fills rope and rotary_dim. may_be_partial: a part of each head may stay unrotated. Divisors that
/// are stored as tensors (Llama 3's, LongRoPE's) count beside what the keys say.
void read_gguf_rope(ConfigReader& config,
                    const checkpoint::Checkpoint& checkpoint,
                    ModelSpec& spec,
                    bool may_be_partial = false);
/// Tensors that read_gguf_rope() reads.
inline constexpr std::string_view kGgufDivisors[] = {
    "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"};

/// The positions that a token sees in layers with a window; 0: there are none.
[[nodiscard]] i64 read_gguf_window(ConfigReader& config, i64 otherwise);
/// [n_layers] for ModelSpec::windows. Every n-th layer sees all positions, unless the file has
/// another n or tells each layer's kind.
[[nodiscard]] std::vector<i64> read_gguf_windows(ConfigReader& config,
                                                 i64 n_layers,
                                                 i64 window,
                                                 i64 every);

/// Throws for a key of the architecture that was not read.
void refuse_unread_gguf(ConfigReader& config);

}  // namespace sticky::model
