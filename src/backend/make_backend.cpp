#include "sticky/backend/make_backend.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "sticky/base/error.hpp"
#include "sticky/topology/usable_cpus.hpp"

#include "cpu_backend.hpp"

namespace sticky::backend {
namespace {

std::string names(const std::vector<cpu::InstructionSet>& sets) {
  std::string all;
  for (const cpu::InstructionSet set : sets)
    all += (all.empty() ? "" : ", ") + std::string(cpu::name(set));
  return all;
}

cpu::InstructionSet choose_instruction_set(const std::string& wanted) {
  const auto usable = cpu::usable_instruction_sets();
  if (wanted == "auto") return usable.back();
  const auto set = cpu::find_instruction_set(wanted);
  if (!set)
    fail<ConfigError>("cpu = \"{}\": not an instruction set; this machine has {}", wanted,
                      names(usable));
  if (std::ranges::find(usable, *set) == usable.end())
    fail<ConfigError>("cpu = \"{}\": this machine or this build has only {}", wanted,
                      names(usable));
  return *set;
}

CpuArithmetic choose_arithmetic(const std::string& dtype, cpu::InstructionSet set) {
  if (dtype != "auto" && dtype != "f32" && dtype != "bf16")
    fail<ConfigError>("dtype = \"{}\": expected auto, f32 or bf16", dtype);
  return dtype == "bf16" && set >= cpu::InstructionSet::avx512bf16 ? CpuArithmetic::bf16
                                                                   : CpuArithmetic::f32;
}

/// OMP_NUM_THREADS, of which the first number counts; 0 when it is unset or not a number.
i64 threads_of_environment() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  return text == nullptr ? 0 : std::max<i64>(0, std::atoll(text));
}

i64 choose_threads(i64 wanted, i64 share) {
  constexpr i64 kMost = 1024;
  if (wanted < 0 || wanted > kMost)
    fail<ConfigError>("n_threads = {}: expected 0 (as many as this process may use) to {}", wanted,
                      kMost);
  if (wanted > 0) return wanted;
  const i64 cap = threads_of_environment();
  i64 n = std::min(kMost, topology::usable_cpus());
  if (share > 0) n = std::min(n, share);
  return cap > 0 ? std::min(n, cap) : n;
}

}  // namespace

std::unique_ptr<Backend> make_backend(const Options& options) {
  if (options.kind != "auto" && options.kind != "cpu")
    fail<ConfigError>("backend kind = \"{}\": this build has only cpu", options.kind);
  const auto set = choose_instruction_set(options.cpu);
  return std::make_unique<CpuBackend>(set, choose_arithmetic(options.dtype, set),
                                      choose_threads(options.n_threads, options.max_threads));
}

}  // namespace sticky::backend
