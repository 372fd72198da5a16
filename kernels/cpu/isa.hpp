#pragma once

#include "kernels/cpu/kernel_table.hpp"

// One unit per instruction set, each compiled with its own flags (CMakeLists.txt). Those above
// scalar exist on x86-64 only.

namespace sticky::cpu {

const KernelTable& scalar_kernels();
const KernelTable& avx2_kernels();
const KernelTable& avx512_kernels();
const KernelTable& avx512bf16_kernels();  ///< those of avx512 and more
const KernelTable& amx_kernels();         ///< those of avx512 and more

}  // namespace sticky::cpu
