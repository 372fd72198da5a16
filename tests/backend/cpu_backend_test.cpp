#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <random>

#include <gtest/gtest.h>

#include "kernels/cpu/instruction_set.hpp"
#include "sticky/backend/make_backend.hpp"
#include "sticky/base/error.hpp"

namespace sticky::backend {
namespace {

std::vector<float> uniform(i64 n, unsigned seed) {
  std::minstd_rand generator(seed);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& x : values)
    x = static_cast<float>(static_cast<int>(generator() >> 7 & 0xffffU) - 32768) / 32768.0F;
  return values;
}

WeightRows rows_of(const std::vector<float>& w, i64 n, i64 k) {
  return {n, k, [&w, k](i64 first, i64 count, float* out) {
            std::copy_n(w.begin() + first * k, count * k, out);
          }};
}

std::vector<float> multiply(Backend& backend, const std::vector<float>& w, i64 n, i64 k) {
  const auto weight = backend.load_weight(rows_of(w, n, k));
  const i64 m = 5;
  const auto x = uniform(m * k, 9);
  std::vector<float> y(static_cast<std::size_t>(m * n));
  backend.gemm({.x = Rows<const float>{x.data(), m, k, k},
                .w = weight.get(),
                .y = Rows<float>{y.data(), m, n, n}});
  return y;
}

std::string message_of(const Options& options) {
  try {
    (void)make_backend(options);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

TEST(MakeBackend, NamesWhatItCannotProvide) {
  EXPECT_THAT(message_of({.kind = "cuda"}), testing::HasSubstr("this build has only cpu"));
  EXPECT_THAT(message_of({.cpu = "sse9"}),
              testing::HasSubstr("cpu = \"sse9\": not an instruction set"));
  EXPECT_THAT(message_of({.dtype = "fp8"}), testing::HasSubstr("dtype = \"fp8\": expected"));
  EXPECT_THAT(message_of({.n_threads = -1}), testing::HasSubstr("n_threads = -1"));
}

TEST(MakeBackend, TakesNoMoreThreadsThanItsShare) {
  EXPECT_THAT(make_backend({.max_threads = 1})->description(), testing::EndsWith("1 thread"));
  EXPECT_THAT(make_backend({.max_threads = 1, .n_threads = 3})->description(),
              testing::EndsWith("3 threads"));
}

TEST(MakeBackend, F32IsOneArithmeticOnEveryInstructionSet) {
  const auto w = uniform(70 * 50, 1);
  const auto scalar = make_backend({.cpu = "scalar", .n_threads = 1});
  const auto want = multiply(*scalar, w, 70, 50);
  for (const auto set : cpu::usable_instruction_sets()) {
    const auto backend =
        make_backend({.dtype = "f32", .cpu = std::string(cpu::name(set)), .n_threads = 2});
    EXPECT_EQ(backend->arithmetic(), "cpu-f32");
    EXPECT_EQ(backend->description(), "CPU, " + std::string(cpu::name(set)) + ", 2 threads");
    EXPECT_EQ(multiply(*backend, w, 70, 50), want) << cpu::name(set);
  }
}

TEST(MakeBackend, Bf16IsAnArithmeticOfItsOwnWhereTheProcessorHasIt) {
  const auto w = uniform(70 * 50, 1);
  for (const auto set : cpu::usable_instruction_sets()) {
    const auto backend =
        make_backend({.dtype = "bf16", .cpu = std::string(cpu::name(set)), .n_threads = 1});
    const bool has_bf16 = set >= cpu::InstructionSet::avx512bf16;
    EXPECT_EQ(backend->arithmetic(), !has_bf16                         ? "cpu-f32"
                                     : set == cpu::InstructionSet::amx ? "cpu-bf16-amx"
                                                                       : "cpu-bf16");
    const auto exact = multiply(*make_backend({.cpu = "scalar", .n_threads = 1}), w, 70, 50);
    const auto y = multiply(*backend, w, 70, 50);
    for (std::size_t i = 0; i < y.size(); ++i)  // 50 products of numbers under 1, each off by 2^-8
      ASSERT_NEAR(y[i], exact[i], 50 * 0x1p-8) << cpu::name(set);
  }
}

TEST(CpuBackend, WeightsThatAreBf16NumbersTakeHalfTheMemory) {
  const auto backend = make_backend({.n_threads = 1});
  std::vector<float> w(64 * 10, 1.5F);
  EXPECT_EQ(backend->load_weight(rows_of(w, 64, 10))->size_bytes(), 64 * 10 * 2);
  w[639] = 0.1F;
  EXPECT_EQ(backend->load_weight(rows_of(w, 64, 10))->size_bytes(), 64 * 10 * 4);
}

TEST(CpuBackend, BuffersStartAsZerosAndKeepWhatIsUploaded) {
  const auto backend = make_backend({.n_threads = 1});
  const auto buffer = backend->allocate(100, "a test");
  const std::byte in[3] = {std::byte{1}, std::byte{2}, std::byte{3}};
  std::byte out[5] = {};

  backend->upload(*buffer, 97, in);
  backend->download(*buffer, 95, out);

  EXPECT_EQ(std::vector<std::byte>(out, out + 5),
            (std::vector<std::byte>{std::byte{0}, std::byte{0}, std::byte{1}, std::byte{2},
                                    std::byte{3}}));
  EXPECT_THROW(backend->upload(*buffer, 98, in), std::invalid_argument);
  EXPECT_THROW(backend->download(*buffer, -1, out), std::invalid_argument);
}

TEST(CpuBackend, SaysWhatThereIsNoRoomFor) {
  const auto backend = make_backend({.n_threads = 1});
  EXPECT_GT(backend->free_bytes(), 0);
  try {
    (void)backend->allocate(i64{1} << 60, "the KV cache");
    FAIL() << "expected DeviceError";
  } catch (const DeviceError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("the KV cache: 1152921504606846976 bytes"));
  }
}

}  // namespace
}  // namespace sticky::backend
