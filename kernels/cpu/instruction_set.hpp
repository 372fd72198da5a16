#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sticky::cpu {

/// Levels of x86 that kernels are compiled for, each containing those before it. Up to avx512 they
/// give the same bits; avx512bf16 and amx add a GEMM of bf16 products.
enum class InstructionSet : std::uint8_t { scalar, avx2, avx512, avx512bf16, amx };

[[nodiscard]] std::string_view name(InstructionSet set);
/// Nothing when no level has this name.
[[nodiscard]] std::optional<InstructionSet> find_instruction_set(std::string_view name);
/// The levels that this build, this processor and this operating system can run, lowest first;
/// never empty. Asks the system for the use of AMX tiles where there are any.
[[nodiscard]] std::vector<InstructionSet> usable_instruction_sets();

}  // namespace sticky::cpu
