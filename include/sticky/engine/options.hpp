#pragma once

#include <cstdint>

#include "sticky/base/types.hpp"

namespace sticky::engine {

struct Options {
  i64 max_sequences = 0;       ///< sequences that run at once; 0: 32
  i64 max_batch_tokens = 0;    ///< rows of one step, prefill and decode together; 0: 512
  bool prefix_cache = true;    ///< full pages of earlier sequences are found again by their hash
  std::uint64_t run_seed = 0;  ///< with the request id it seeds requests that bring no seed
};

}  // namespace sticky::engine
