#pragma once

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/ops.hpp"

// What the tests of the CPU's kernels share: inputs, and a way to run one on each instruction set.

namespace sticky::test {

/// One rounding to nearest of an f32: half a unit in the last place, relative.
inline constexpr double kRoundoff = 0x1p-24;

class SerialParallel final : public cpu::Parallel {
 public:
  [[nodiscard]] i64 n_threads() const override { return 1; }
  void for_each(i64 n, cpu::IndexFunction f) override {
    for (i64 i = 0; i < n; ++i)
      f(i);
  }
};

/// Pretends to have threads, so that work is cut as for them; runs the parts backwards.
class BackwardParallel final : public cpu::Parallel {
 public:
  explicit BackwardParallel(i64 n_threads) : n_threads_(n_threads) {}
  [[nodiscard]] i64 n_threads() const override { return n_threads_; }
  void for_each(i64 n, cpu::IndexFunction f) override {
    for (i64 i = n - 1; i >= 0; --i)
      f(i);
  }

 private:
  i64 n_threads_;
};

/// Numbers in [-1, 1), the same on every machine.
inline std::vector<float> uniform(i64 n, unsigned seed) {
  std::minstd_rand generator(seed);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& x : values)
    x = static_cast<float>(static_cast<int>(generator() >> 7 & 0xffffU) - 32768) / 32768.0F;
  return values;
}

inline Rows<float> matrix(std::vector<float>& values, i64 rows, i64 cols) {
  return {values.data(), rows, cols, cols};
}
inline Rows<const float> matrix(const std::vector<float>& values, i64 rows, i64 cols) {
  return {values.data(), rows, cols, cols};
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

/// Instruction sets that this machine has and whose results must be equal to the bit.
inline std::vector<cpu::InstructionSet> exact_sets() {
  auto sets = cpu::usable_instruction_sets();
  std::erase_if(sets, [](auto set) { return set > cpu::InstructionSet::avx512; });
  return sets;
}

/// Those that multiply bf16 numbers.
inline std::vector<cpu::InstructionSet> bf16_sets() {
  auto sets = cpu::usable_instruction_sets();
  std::erase_if(sets, [](auto set) { return set <= cpu::InstructionSet::avx512; });
  return sets;
}

class EachSet : public testing::TestWithParam<cpu::InstructionSet> {
 protected:
  [[nodiscard]] cpu::Context context() { return {cpu::kernel_table(GetParam()), parallel_}; }

 private:
  SerialParallel parallel_;
};

inline std::string name_of_set(const testing::TestParamInfo<cpu::InstructionSet>& set) {
  return std::string(cpu::name(set.param));
}

}  // namespace sticky::test
