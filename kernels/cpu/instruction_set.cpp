#include "kernels/cpu/instruction_set.hpp"

#include "kernels/cpu/isa.hpp"

namespace sticky::cpu {
namespace {

constexpr InstructionSet kAll[] = {InstructionSet::scalar, InstructionSet::avx2,
                                   InstructionSet::avx512, InstructionSet::avx512bf16,
                                   InstructionSet::amx};

bool is_usable(InstructionSet set) {
  if (set == InstructionSet::scalar) return true;
#if STICKY_X86_KERNELS
  // The compiler's run-time library asks the operating system too (XCR0), not only CPUID.
  if (set == InstructionSet::avx2)
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (set == InstructionSet::avx512)
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#endif
  return false;
}

}  // namespace

std::string_view name(InstructionSet set) {
  switch (set) {
    case InstructionSet::scalar:
      return "scalar";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::avx512:
      return "avx512";
    case InstructionSet::avx512bf16:
      return "avx512bf16";
    case InstructionSet::amx:
      return "amx";
  }
  return "";
}

std::optional<InstructionSet> find_instruction_set(std::string_view wanted) {
  for (const InstructionSet set : kAll) {
    if (name(set) == wanted) return set;
  }
  return std::nullopt;
}

std::vector<InstructionSet> usable_instruction_sets() {
  std::vector<InstructionSet> usable;
  for (const InstructionSet set : kAll) {
    if (!is_usable(set)) break;  // each level needs those below
    usable.push_back(set);
  }
  return usable;
}

const KernelTable& kernel_table(InstructionSet set) {
#if STICKY_X86_KERNELS
  if (set == InstructionSet::avx2) return avx2_kernels();
  if (set >= InstructionSet::avx512) return avx512_kernels();
#endif
  static_cast<void>(set);
  return scalar_kernels();
}

}  // namespace sticky::cpu
