#pragma once

#include <cstdint>
#include <immintrin.h>

#include "sticky/base/types.hpp"

// Sixteen floats in one AVX-512 register; names and meaning as in vec_scalar.hpp.

namespace sticky::cpu {
namespace {

struct Vec {
  using F = __m512;
  static constexpr int kAccumulators = 24;
  static constexpr int kTileRows = 12;

  static F set1(float x) { return _mm512_set1_ps(x); }
  static F load(const float* p) { return _mm512_loadu_ps(p); }
  static F load_n(const float* p, i64 n) { return _mm512_maskz_loadu_ps(first_lanes(n), p); }
  static void store(float* p, F a) { _mm512_storeu_ps(p, a); }
  static void store_n(float* p, F a, i64 n) { _mm512_mask_storeu_ps(p, first_lanes(n), a); }
  static F load_half(const std::uint16_t* p, int half) {
    const __m512i both = _mm512_loadu_si512(p);
    return _mm512_castsi512_ps(
        half == 0 ? _mm512_slli_epi32(both, 16)
                  : _mm512_and_si512(both, _mm512_set1_epi32(static_cast<int>(0xffff0000U))));
  }
  static F add(F a, F b) { return _mm512_add_ps(a, b); }
  static F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static F div(F a, F b) { return _mm512_div_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static F min(F a, F b) { return _mm512_min_ps(a, b); }
  static F max(F a, F b) { return _mm512_max_ps(a, b); }
  static F select_less(F a, F b, F x, F y) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x);
  }
  static F power_of_two(F a) {
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_slli_epi32(_mm512_castps_si512(a), 23),
                                                _mm512_set1_epi32(0x3f800000)));
  }
  static float sum(F a) {
    const __m256 eight = _mm256_add_ps(low(a), high(a));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  static float max_lane(F a) {
    const __m256 eight = _mm256_max_ps(low(a), high(a));
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
  }
  static float first(F a) { return _mm512_cvtss_f32(a); }
  static void pin(F& a) { asm("" : "+v"(a)); }

  static void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }

 private:
  static __mmask16 first_lanes(i64 n) {
    return static_cast<__mmask16>((std::uint32_t{1} << n) - 1U);
  }
  static __m256 low(F a) { return _mm512_castps512_ps256(a); }
  static __m256 high(F a) { return _mm512_extractf32x8_ps(a, 1); }
};

}  // namespace
}  // namespace sticky::cpu
