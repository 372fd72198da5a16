#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sticky/base/types.hpp"

namespace sticky::request {

inline constexpr std::size_t kMaxStops = 64;
inline constexpr std::size_t kMaxStopBytes = 4096;  ///< of one
inline constexpr std::size_t kMaxStopTokenIds = 1024;

/// How the next token is drawn and when a text ends. Order of the processors: logit_bias,
/// penalties, temperature, top_k, top_p, min_p (as transformers and vLLM).
struct Sampling {
  double temperature = 1.0;         ///< 0: greedy
  double top_p = 1.0;               ///< keeps the smallest set whose probability reaches it
  i64 top_k = 0;                    ///< 0: off
  double min_p = 0.0;               ///< keeps tokens of at least min_p times the best probability
  double repetition_penalty = 1.0;  ///< over prompt and output tokens
  double presence_penalty = 0.0;    ///< over output tokens
  double frequency_penalty = 0.0;   ///< over output tokens
  std::optional<i64> seed{};        ///< none: derived from run seed and request id
  std::vector<std::pair<i32, double>> logit_bias{};

  std::optional<i64> max_tokens{};  ///< none: until the context ends; 0: only the prompt is scored
  i64 min_tokens = 0;
  bool ignore_eos = false;
  std::vector<std::string> stop{};
  std::vector<i32> stop_token_ids{};
  bool include_stop_str_in_output = false;
  i64 top_logprobs = -1;  ///< -1: no logprobs; 0: of the chosen token only; n: the n best beside it
};

}  // namespace sticky::request
