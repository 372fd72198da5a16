#pragma once

#include <string>

namespace sticky::perf {

/// Highest rate of multiply-adds that one core reaches from registers alone, in FLOP/s: the best of
/// many short runs, in processor time, so that other load on the machine counts little.
/// set: scalar | avx2 | avx512 (f32) | avx512bf16 | amx (products of bf16).
[[nodiscard]] double peak_flops(const std::string& set);

/// Processor time of this thread in seconds.
[[nodiscard]] double thread_seconds();

}  // namespace sticky::perf
