#pragma once

#include <string>

#include "sticky/base/types.hpp"

namespace sticky::backend {

struct Options {
  std::string kind = "auto";  ///< auto | cpu
  /// Arithmetic asked for: auto | f32 | bf16. f32, which auto means on a CPU, is the exact mode:
  /// products and sums in f32, weights as stored (bf16 ones kept in 16 bits). bf16 rounds weights
  /// and activations to bf16 where the processor multiplies such numbers, and is f32 elsewhere;
  /// Backend::arithmetic() says which.
  std::string dtype = "auto";
  std::string cpu = "auto";  ///< instruction set: auto | scalar | avx2 | avx512 | avx512bf16 | amx
  i64 max_threads =
      0;              ///< with n_threads = 0: this rank's share of the node's CPUs; 0: all of them
  i64 n_threads = 0;  ///< 0: as many as this process may use, or OMP_NUM_THREADS if that is fewer
};

}  // namespace sticky::backend
