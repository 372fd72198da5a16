#pragma once

#include <string>

#include "sticky/base/types.hpp"

namespace sticky::backend {

struct Options {
  std::string kind = "auto";  ///< auto | cpu
  std::string dtype =
      "auto";  ///< arithmetic asked for: auto | f32 | bf16 (engine.md: f32 is the exact mode)
  std::string cpu = "auto";  ///< instruction set: auto | scalar | avx2 | avx512 | avx512bf16
  i64 n_threads = 0;         ///< 0: as many as this process may use
};

}  // namespace sticky::backend
