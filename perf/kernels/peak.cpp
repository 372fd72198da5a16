#include "perf/kernels/peak.hpp"

#include <algorithm>
#include <cmath>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sticky::perf {
namespace {

constexpr int kTurns = 20000;
constexpr int kSums = 12;  // enough to hide the latency of a multiply-add

/// FLOP of one call.
double run_scalar() {
  volatile float factor = 0.999F;
  float sums[kSums] = {};
  for (int i = 0; i < kTurns; ++i) {
    for (float& sum : sums)
      sum = std::fma(sum, factor, 1.0F);
  }
  volatile float sink = sums[0] + sums[kSums - 1];
  static_cast<void>(sink);
  return 2.0 * kTurns * kSums;
}

#if defined(__x86_64__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

__attribute__((target("avx2,fma"))) double run_avx2() {
  __m256 sums[kSums] = {};
  __m256 factor = _mm256_set1_ps(0.999F);
  for (int i = 0; i < kTurns; ++i) {
#pragma GCC unroll 12
    for (int s = 0; s < kSums; ++s) {
      sums[s] = _mm256_fmadd_ps(sums[s], factor, factor);
      asm volatile("" : "+x"(sums[s]));
    }
  }
  return 2.0 * 8 * kTurns * kSums;
}

__attribute__((target("avx512f"))) double run_avx512() {
  __m512 sums[kSums] = {};
  __m512 factor = _mm512_set1_ps(0.999F);
  for (int i = 0; i < kTurns; ++i) {
#pragma GCC unroll 12
    for (int s = 0; s < kSums; ++s) {
      sums[s] = _mm512_fmadd_ps(sums[s], factor, factor);
      asm volatile("" : "+v"(sums[s]));
    }
  }
  return 2.0 * 16 * kTurns * kSums;
}

__attribute__((target("avx512f,avx512bf16"))) double run_avx512bf16() {
  __m512 sums[kSums] = {};
  const __m512bh factor = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.01F), _mm512_set1_ps(0.01F));
  for (int i = 0; i < kTurns; ++i) {
#pragma GCC unroll 12
    for (int s = 0; s < kSums; ++s) {
      sums[s] = _mm512_dpbf16_ps(sums[s], factor, factor);
      asm volatile("" : "+v"(sums[s]));
    }
  }
  return 4.0 * 16 * kTurns * kSums;
}

__attribute__((target("amx-tile,amx-bf16"))) double run_amx() {
  struct alignas(64) {
    unsigned char palette = 1;
    unsigned char unused[15] = {};
    unsigned short row_bytes[16] = {64, 64, 64, 64, 64, 64};
    unsigned char rows[16] = {16, 16, 16, 16, 16, 16};
  } config;
  asm volatile("" : : "r"(&config) : "memory");
  _tile_loadconfig(&config);
  _tile_zero(4);
  _tile_zero(5);
  for (int i = 0; i < kTurns / 10; ++i) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  _tile_release();
  return 2.0 * 16 * 16 * 32 * 4 * (kTurns / 10);
}
#endif

}  // namespace

double thread_seconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double peak_flops(const std::string& set) {
  double (*run)() = run_scalar;
#if defined(__x86_64__)
  if (set == "avx2") run = run_avx2;
  if (set == "avx512") run = run_avx512;
  if (set == "avx512bf16") run = run_avx512bf16;
  if (set == "amx") run = run_amx;
#endif
  double best = 0.0;
  for (int i = 0; i < 200; ++i) {
    const double begin = thread_seconds();
    const double flops = run();
    best = std::max(best, flops / (thread_seconds() - begin));
  }
  return best;
}

}  // namespace sticky::perf
