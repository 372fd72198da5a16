#include "kernels/cpu/instruction_set.hpp"

#if STICKY_X86_KERNELS
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "kernels/cpu/isa.hpp"

namespace sticky::cpu {
namespace {

constexpr InstructionSet kAll[] = {InstructionSet::scalar, InstructionSet::avx2,
                                   InstructionSet::avx512, InstructionSet::avx512bf16,
                                   InstructionSet::amx};

#if STICKY_X86_KERNELS
/// Linux gives a process the 8 KiB of tile registers only after it has asked.
bool may_use_amx_tiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM of asm/prctl.h
  constexpr long kTileRegisters = 18;          // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileRegisters) == 0;
}

bool has_amx_bf16() {
  constexpr unsigned kBf16 = 1U << 22;
  constexpr unsigned kTiles = 1U << 24;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kBf16) != 0 && (d & kTiles) != 0;
}
#endif

bool is_usable(InstructionSet set) {
  if (set == InstructionSet::scalar) return true;
#if STICKY_X86_KERNELS
  // The compiler's run-time library asks the operating system too (XCR0), not only CPUID.
  if (set == InstructionSet::avx2)
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (set == InstructionSet::avx512)
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (set == InstructionSet::avx512bf16) return __builtin_cpu_supports("avx512bf16") != 0;
  if (set == InstructionSet::amx) return has_amx_bf16() && may_use_amx_tiles();
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
  if (set == InstructionSet::avx512) return avx512_kernels();
  if (set == InstructionSet::avx512bf16) return avx512bf16_kernels();
  if (set == InstructionSet::amx) return amx_kernels();
#endif
  static_cast<void>(set);
  return scalar_kernels();
}

}  // namespace sticky::cpu
